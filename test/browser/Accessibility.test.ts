import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { screens } from "./support/Screens.ts"
import { failedRun, reviewRun } from "./support/records/Runs.ts"
import { browserSuite, darkJapanese, expectAccessible, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()

const looks = [
  ["English, light", lightEnglish],
  ["Japanese, dark", darkJapanese]
] as const

const dialogs: ReadonlyArray<readonly [string, string, string, (page: Page) => Promise<void>]> = [
  ["approve", `/w/acme/runs/${reviewRun}`, ".decision", (page) => page.locator(".decision .button-danger").click()],
  ["discard", `/w/acme/runs/${reviewRun}`, ".decision", (page) => page.locator(".decision .button-plain").click()],
  [
    "new connection",
    "/w/acme/connections",
    ".row-connection",
    (page) => page.locator(".page-actions .button-primary").click()
  ],
  ["new source", "/w/acme/sources", ".row-run", (page) => page.locator(".page-actions .button-primary").click()],
  ["new token", "/account", ".row-static", (page) => page.locator(".panel-actions button").last().click()],
  ["add a member", "/w/acme/settings", ".row-static", (page) => page.locator(".panel-actions button").first().click()],
  ["palette", "/w/acme", ".attention-row", (page) => page.keyboard.press("Control+k")],
  ["shortcuts", "/w/acme", ".attention-row", (page) => page.keyboard.press("?")]
]

describe.each(looks)("without barriers in %s", (_name, look) => {
  test.each(screens.map(({ name, path, ready }) => [name, path, ready] as const))(
    "%s",
    async (_screen, path, ready) => {
      const { page, faults, go } = await suite.visit(look)
      await go(path, ready)
      expect(await page.evaluate(() => document.documentElement.lang)).toBe(look.language)
      await expectAccessible(page)
      expect(faults).toEqual([])
    }
  )

  test.each(dialogs)("dialog: %s", async (_dialog, path, ready, open) => {
    const { page, faults, go } = await suite.visit(look)
    await go(path, ready)
    await open(page)
    await page.locator("dialog[open]").waitFor()
    await expectAccessible(page)
    expect(faults).toEqual([])
  })

  test("menus", async () => {
    const { page, faults, go } = await suite.visit(look)
    await go("/w/acme", ".attention-row")
    for (const trigger of [".side-workspace", ".side-account"]) {
      await page.locator(trigger).click()
      await page.locator(".menu").waitFor()
      await expectAccessible(page)
      await page.keyboard.press("Escape")
      await page.locator(".menu").waitFor({ state: "detached" })
    }
    expect(faults).toEqual([])
  })
})

describe("on a phone", () => {
  test.each(screens.map(({ name, path, ready }) => [name, path, ready] as const))(
    "%s does not scroll sideways",
    async (_screen, path, ready) => {
      const { page, go } = await suite.visit(phone)
      await go(path, ready)
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      ).toBeLessThanOrEqual(0)
    }
  )

  test("the navigation opens, goes somewhere and closes", async () => {
    const { page, go } = await suite.visit(phone)
    await go(`/w/acme/runs/${failedRun}`, ".diagnosis")
    await page.getByRole("button", { name: "Open navigation" }).click()
    await expectAccessible(page)
    await page.getByRole("dialog").getByRole("link", { name: "Capsules" }).click()
    await page.locator(".long-row").first().waitFor()
    expect(await page.locator("dialog[open]").count()).toBe(0)
  })
})
