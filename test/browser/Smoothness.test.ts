import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { median } from "../bench/support/Figures.ts"
import { capsulePage, fillLog, runPage, searchCapsules, useLog, worldOf } from "./support/BigLists.ts"
import { browserSuite } from "./support/Suite.ts"
import { type Work, workMeter } from "./support/Work.ts"

// Cost is CPU time on the page's main thread, relative to the same actions on a small list in the same run, so that the speed and
// the load of the machine cancel out. `npm run bench:dashboard` prints the times that a reader would notice.

const suite = browserSuite()

/**
 * Maximum ratio between the cost of an action on the big list and its cost on the small list. Work proportional to the list
 * would cost 10 to 100 times as much.
 */
const factor = 3
const rounds = 3
/** Costs below this are too small for a meaningful ratio. */
const least = 1

const ratio = (small: ReadonlyArray<Work>, big: ReadonlyArray<Work>): number =>
  median(big.map(({ cost }) => cost)) / Math.max(least, median(small.map(({ cost }) => cost)))

/** Returns the maximum number of rows on the page at once, and the number of rows created. */
const watchRows = (page: Page, selector: string) =>
  page.evaluate((wanted) => {
    const rows = { most: document.querySelectorAll(wanted).length, made: 0 }
    Reflect.set(globalThis, "__rows", rows)
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const node of addedNodes)
          if (node instanceof Element) rows.made += node.matches(wanted) ? 1 : node.querySelectorAll(wanted).length
      rows.most = Math.max(rows.most, document.querySelectorAll(wanted).length)
    }).observe(document.body, { childList: true, subtree: true })
  }, selector)
const rowsSeen = (page: Page) =>
  page.evaluate(() => {
    const rows: unknown = Reflect.get(globalThis, "__rows")
    return { most: Number(Reflect.get(Object(rows), "most")), made: Number(Reflect.get(Object(rows), "made")) }
  })

describe("Long lists", () => {
  test("a key press in the search costs the same with 1,000 capsules as with 10", async () => {
    const works = { small: new Array<Work>(), big: new Array<Work>() }
    for (let round = 0; round < rounds; round += 1)
      for (const [name, count] of [
        ["small", 10],
        ["big", 1000]
      ] as const) {
        const { page, faults, go } = await suite.visit(undefined, worldOf(count))
        await go(capsulePage.path, capsulePage.ready)
        await watchRows(page, ".long-row")
        const measure = await workMeter(page)
        works[name].push(await searchCapsules(page, measure))
        const rows = await rowsSeen(page)
        expect(rows.most).toBeLessThan(60)
        // The whole search creates at most two screens of rows, because a key press that does not change the matches redraws
        // nothing.
        expect(rows.made).toBeLessThan(120)
        expect(faults).toEqual([])
        await page.close()
      }
    expect(ratio(works.small, works.big)).toBeLessThan(factor)
    for (const { layouts } of works.big) expect(layouts).toBeLessThan(4)
  })

  test("every one of 1,000 capsules can be found by name, and the address contains the search text", async () => {
    const { page, go } = await suite.visit(undefined, worldOf(1000))
    await go(capsulePage.path, capsulePage.ready)
    await page.getByLabel(/Search name/).pressSequentially("service-77")
    await page.getByRole("status").getByText("11 capsules", { exact: true }).waitFor()
    await page.getByLabel(/Search name/).fill("service-777")
    await page.getByRole("status").getByText("1 capsule", { exact: true }).waitFor()
    expect(await page.locator(".long-row").count()).toBe(1)
    expect(new URL(page.url()).searchParams.get("q")).toBe("service-777")
  })
})

describe("Long logs", () => {
  test("a log of 100,000 lines costs no more CPU time per screen, jump, new line or search than a log of 1,000 lines", async () => {
    const works = {
      small: new Array<Awaited<ReturnType<typeof useLog>>>(),
      big: new Array<Awaited<ReturnType<typeof useLog>>>()
    }
    for (let round = 0; round < rounds; round += 1)
      for (const [name, count] of [
        ["small", 1000],
        ["big", 100_000]
      ] as const) {
        const { page, api, faults, go } = await suite.visit()
        await go(runPage.path, runPage.ready)
        await watchRows(page, ".log-line")
        await fillLog(page, api, count)
        const { ends, ...work } = await useLog(page, api, await workMeter(page), count)
        // Jumping to either end scrolls smoothly and draws as often as the machine allows, so the cost is divided by the
        // number of layouts.
        works[name].push({ ...work, ends: { ...ends, cost: ends.cost / Math.max(1, ends.layouts) } })
        expect((await rowsSeen(page)).most).toBeLessThan(100)
        expect(faults).toEqual([])
        await page.close()
      }
    const grown = Object.fromEntries(
      (["wheel", "append", "ends", "searched"] as const).map((action) => [
        action,
        ratio(
          works.small.map((work) => work[action]),
          works.big.map((work) => work[action])
        )
      ])
    )
    expect(Object.entries(grown).filter(([, times]) => !(times < factor))).toEqual([])
  }, 300_000)
})
