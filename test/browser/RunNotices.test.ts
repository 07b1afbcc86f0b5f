import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { noticeWords } from "../../src/dashboard/screens/run/NoticeWords.ts"
import { applyRun, driftRun, failedRun, reviewRun } from "./support/records/Runs.ts"
import { browserSuite, darkJapanese, type Visit } from "./support/Suite.ts"

const suite = browserSuite()
const { en, ja } = noticeWords

const titleStarts = (page: Page, start: string) =>
  page.waitForFunction((expected) => document.title.startsWith(expected), start)

const iconOf = (page: Page) => page.locator("link[rel=icon]").getAttribute("href")

const iconChanges = (page: Page, known: string | null) =>
  page.waitForFunction((href) => document.querySelector("link[rel=icon]")?.getAttribute("href") !== href, known)

/** Finishes the open apply, and notifies the page as the server would. */
const end = (api: Visit["api"], status: "failed" | "succeeded") => {
  api.world.runs = api.world.runs.map((run) => (run.id === applyRun ? { ...run, status } : run))
  api.emitEvent(applyRun, { kind: `run.${status}`, data: {} })
}

/** Simulates a desktop whose user answers the permission prompt with `answer`, and records the page's notifications. */
const desktop = (page: Page, answer: "denied" | "granted") =>
  page.addInitScript((permission) => {
    const shown: Array<string> = []
    Reflect.set(globalThis, "__shown", shown)
    class Shown extends EventTarget {
      constructor(text: string) {
        super()
        shown.push(text)
      }
    }
    Reflect.set(
      globalThis,
      "Notification",
      Object.assign(Shown, {
        permission: sessionStorage.getItem("answered") ?? "default",
        requestPermission: async () => {
          sessionStorage.setItem("answered", permission)
          Reflect.set(Reflect.get(globalThis, "Notification"), "permission", permission)
          return permission
        }
      })
    )
    Reflect.set(document, "hasFocus", () => Reflect.get(globalThis, "__focused") === true)
  }, answer)

const shownOn = (page: Page): Promise<unknown> => page.evaluate(() => Reflect.get(globalThis, "__shown"))

describe("Tab title", () => {
  test("the tab's title and icon count the finished resources of an apply, and show its result", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    await titleStarts(page, "▸ 1 of 2 · ")
    await page.waitForFunction(() =>
      document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href.startsWith("data:")
    )
    const running = await iconOf(page)
    api.emitEvent(applyRun, {
      kind: "resource.completed",
      data: { address: "aws_sqs_queue.third", action: "create" }
    })
    await titleStarts(page, "▸ 2 of 3 · ")
    end(api, "succeeded")
    await titleStarts(page, `✓ ${en.applied} · `)
    await iconChanges(page, running)
    expect(faults).toEqual([])
  })

  test("the tab's title and icon show waiting and failed runs, and are reset on leaving the page", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme/capsules", "h1")
    const plain = await iconOf(page)
    for (const [run, title] of [
      [reviewRun, `● ${en.waiting} · `],
      [driftRun, `● ${en.drifted} · `],
      [failedRun, `✕ ${en.failed} · `]
    ] as const) {
      await go(`/w/acme/runs/${run}`, "h1")
      await titleStarts(page, title)
      await iconChanges(page, plain)
    }
    await page.getByRole("link", { name: "Capsules", exact: true }).first().click()
    await titleStarts(page, "Capsules")
    expect(await iconOf(page)).toEndWith(plain ?? "")
  })

  test("the tab's title is in Japanese", async () => {
    const { page, go } = await suite.visit(darkJapanese)
    await go(`/w/acme/runs/${reviewRun}`, "h1")
    await titleStarts(page, `● ${ja.waiting} · `)
  })
})

describe("Desktop notifications", () => {
  test("a desktop notification appears once, only after consent and only while the page is hidden", async () => {
    const { page, api, go } = await suite.visit()
    await desktop(page, "granted")
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    await page.getByRole("button", { name: en.notify, pressed: false }).click()
    await page.getByRole("button", { name: en.notify, pressed: true }).waitFor()
    end(api, "failed")
    await titleStarts(page, "✕ ")
    const name = (await page.getByRole("heading", { level: 1 }).textContent()) ?? ""
    expect(await shownOn(page)).toEqual([en.hasFailed(name)])
  })

  test("a desktop notification appears neither without consent nor while the page is visible", async () => {
    const { page, api, go } = await suite.visit()
    await desktop(page, "granted")
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    await page.getByRole("button", { name: en.notify, pressed: false }).waitFor()
    end(api, "succeeded")
    await titleStarts(page, "✓ ")
    expect(await shownOn(page)).toEqual([])

    const other = await suite.visit()
    await desktop(other.page, "granted")
    await other.go(`/w/acme/runs/${applyRun}`, ".log-line")
    await other.page.getByRole("button", { name: en.notify }).click()
    await other.page.getByRole("button", { name: en.notify, pressed: true }).waitFor()
    await other.page.evaluate(() => Reflect.set(globalThis, "__focused", true))
    end(other.api, "succeeded")
    await titleStarts(other.page, "✓ ")
    expect(await shownOn(other.page)).toEqual([])
  })

  test("the page reports that the browser blocks desktop notifications", async () => {
    const { page, go } = await suite.visit()
    await desktop(page, "denied")
    await go(`/w/acme/runs/${applyRun}`, ".log-line")
    await page.getByRole("button", { name: en.notify }).click()
    await page.getByText(en.refused).waitFor()
    await page.getByRole("button", { name: en.notify, pressed: false }).waitFor()
  })
})
