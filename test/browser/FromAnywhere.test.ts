import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import type { StateVersion } from "../../src/dashboard/api/Types.ts"
import { appWords } from "../../src/dashboard/app/Words.ts"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { logWords } from "../../src/dashboard/screens/run/LogWords.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { applyRun, reviewRun } from "./support/records/Runs.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()

describe("Shortcuts on a Run", () => {
  test("the keys `a` and `d` open the approve and discard dialogs without deciding, and `l` moves to the log", async () => {
    const { api, page, go } = await suite.visit()
    await go(`/w/acme/runs/${reviewRun}`, ".decision")
    await page.keyboard.press("a")
    await page.getByRole("dialog", { name: decisionWords.en.approveDialogTitle }).waitFor()
    // Inside the dialog, the key that opened it has no effect.
    await page.keyboard.press("d")
    expect(await page.getByRole("dialog").count()).toBe(1)
    await page.keyboard.press("Escape")
    await page.keyboard.press("d")
    await page.getByRole("dialog", { name: decisionWords.en.discardTitle }).waitFor()
    await page.keyboard.press("Escape")
    await page.keyboard.press("l")
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("log")
    expect(api.changes).toEqual([])
  })

  test("the key sequence `g` `a` still opens the activity page, and letters typed in a field open no dialog", async () => {
    const { page, go } = await suite.visit()
    await go(`/w/acme/runs/${reviewRun}`, ".comment-form")
    await page.locator(".comment-form textarea").fill("a")
    await page.locator(".comment-form textarea").press("a")
    expect(await page.getByRole("dialog").count()).toBe(0)
    await page.getByRole("heading", { level: 1 }).click()
    await page.keyboard.press("g")
    await page.keyboard.press("a")
    await page.waitForURL(/\/activity$/)
    expect(await page.getByRole("dialog").count()).toBe(0)
  })
})

const choose = async (page: Page, typed: string, name: string) => {
  await page.keyboard.press("Control+k")
  await page.keyboard.type(typed)
  await page.getByRole("option", { name }).first().waitFor()
  await page.getByRole("option", { name }).first().click()
}

describe("Actions in the command palette", () => {
  for (const look of [lightEnglish, darkJapanese]) {
    const words = appWords[look.language].verbs
    test(`the palette links to the actions on a Capsule without performing any of them (${look.language})`, async () => {
      const { api, page, go } = await suite.visit(look)
      await go("/w/acme", ".attention-row")
      await choose(page, words.plan("storefront"), words.plan("storefront"))
      await page.waitForURL(new RegExp(`/capsules/${storefrontId}#plan$`))
      await page.locator("#plan:focus").waitFor()
      await choose(page, words.drift("storefront"), words.drift("storefront"))
      await page.locator("#drift:focus").waitFor()
      await choose(page, words.outputs("storefront"), words.outputs("storefront"))
      await page.locator("#outputs:focus").waitFor()
      await choose(page, words.rollback("storefront"), words.rollback("storefront"))
      await page.waitForURL(/\/history$/)
      await choose(page, words.log("storefront"), words.log("storefront"))
      await page.waitForURL(/\/runs\/run_\w+#log$/)
      await page.locator("#log:focus").waitFor()
      expect(api.changes).toEqual([])
    })
  }
})

describe("Shortcuts in the log", () => {
  test("the log enters and leaves full screen, and a search continues from the visible lines", async () => {
    const words = logWords.en
    const { api, page, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    api.emitLog(
      applyRun,
      Array.from({ length: 600 }, (_, index) => (index % 100 === 50 ? `needle ${index}` : `line ${index}`))
    )
    await page.getByText("line 599", { exact: true }).waitFor()
    const log = page.locator(".log")
    await page.keyboard.press("l")
    await page.keyboard.press("Home")
    // The browser may animate keyboard scrolling.
    await page.waitForFunction(() => document.querySelector(".log")?.scrollTop === 0)
    await log.evaluate((element) => element.scrollTo({ top: 300 * 20 }))
    await page.keyboard.press("f")
    await page.locator(".log-full").waitFor()
    const box = await page.locator(".log-full").boundingBox()
    expect(box).toMatchObject({ x: 0, y: 0 })
    const view = await log.boundingBox()
    expect((view?.y ?? 0) + (view?.height ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0)
    expect(await barriers(page)).toEqual([])
    await page.getByLabel(words.searchLog, { exact: true }).fill("needle")
    await page.locator(".log-wanted").waitFor()
    const found = await page.locator(".log-wanted .log-text").textContent()
    expect(found).toBe("needle 350")
    // The first Escape ends the search. The scroll position does not change.
    await page.keyboard.press("Escape")
    await page.getByText("needle 350", { exact: true }).waitFor()
    expect(await page.locator(".log-full").count()).toBe(1)
    await page.keyboard.press("Escape")
    await page.locator(".log-full").waitFor({ state: "detached" })
  })
})

test("each history line with a stored state offers a rollback to that state", async () => {
  const words = capsuleWords.en
  const { page, go } = await suite.visit()
  await page.route("**/state-versions*", async (route) => {
    const response = await route.fetch()
    const answer: { readonly stateVersions: ReadonlyArray<StateVersion> } = await response.json()
    const stateVersions = answer.stateVersions.map((version) => ({ ...version, createdByRunId: reviewRun }))
    await route.fulfill({ response, json: { ...answer, stateVersions } })
  })
  await go(`/w/acme/capsules/${storefrontId}/history`, ".history > li")
  const button = page.getByRole("button", { name: words.rollback }).first()
  await button.waitFor()
  expect(words.rollback).toBe("Roll back to this")
  expect(await barriers(page)).toEqual([])
  await button.click()
  await page.getByRole("dialog").getByRole("button", { name: words.rollbackDo, exact: true }).waitFor()
})
