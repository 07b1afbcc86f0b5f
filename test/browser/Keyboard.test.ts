import { describe, expect, test } from "bun:test"
import { reviewRun } from "./support/records/Runs.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

describe("Keyboard only", () => {
  test("the first Tab reaches the link that skips the navigation", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    await page.keyboard.press("Tab")
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content")
    await page.keyboard.press("Enter")
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content")
  })

  test("the palette finds a capsule and opens it", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("event")
    await page.getByRole("option", { name: "event-bus production", exact: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "event-bus" }).waitFor()
    expect(await page.locator("dialog[open]").count()).toBe(0)
  })

  test("the palette keeps the text and the focus while its code is loading", async () => {
    const { page, go } = await suite.visit()
    const asked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    await page.route("**/assets/PaletteSearch-*.js", async (route) => {
      asked.resolve()
      await release.promise
      await route.continue()
    })
    await go("/w/acme", ".attention-row")
    await page.keyboard.press("Control+k")
    await asked.promise
    // The first letter would open the install form if the palette ignored it.
    await page.keyboard.type("network")
    release.resolve()
    await page.getByRole("option", { name: "network" }).first().waitFor()
    const field = page.getByRole("combobox")
    expect(await field.inputValue()).toBe("network")
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(new URL(page.url()).pathname).toBe("/w/acme")
  })

  test("arrow keys move through the palette and wrap around", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    await page.keyboard.press("Control+k")
    const selected = () => page.locator('[role="option"][aria-selected="true"]').textContent()
    const first = await selected()
    await page.keyboard.press("ArrowDown")
    expect(await selected()).not.toBe(first)
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    const last = await page.locator('[role="option"]').last().textContent()
    expect(await selected()).toBe(last)
  })

  test("Escape closes a dialog and returns the focus", async () => {
    const { page, go } = await suite.visit()
    await go(`/w/acme/runs/${reviewRun}`, ".decision")
    const button = page.getByRole("button", { name: "Approve and apply" })
    await button.focus()
    await page.keyboard.press("Enter")
    await page.locator("dialog[open]").waitFor()
    expect(await page.evaluate(() => document.activeElement?.closest("dialog") !== null)).toBe(true)
    await page.keyboard.press("Escape")
    await page.locator("dialog[open]").waitFor({ state: "detached" })
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  test("g followed by a letter navigates, except while a person types in a field", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    await page.keyboard.press("g")
    await page.keyboard.press("c")
    await page.locator(".long-row").first().waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("gr")
    expect(new URL(page.url()).pathname).toBe("/w/acme/capsules")
    expect(await page.locator("[data-page-search]").inputValue()).toBe("gr")
  })

  test("if a navigation removes the focused element, the new page's content gets the focus", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    const focused = () => page.evaluate(() => document.activeElement?.id)
    await page.keyboard.press("n")
    await page.locator("input[type=url]").waitFor()
    await page.waitForFunction(() => document.activeElement?.id === "content")
    await page.goBack()
    await page.locator(".attention-row a").first().focus()
    await page.keyboard.press("Enter")
    await page.locator(".tabs").waitFor()
    await page.waitForFunction(() => document.activeElement?.id === "content")
    // A link in the navigation stays on the page, so it keeps the focus.
    await page.getByRole("link", { name: "Runs", exact: true }).first().focus()
    await page.keyboard.press("Enter")
    await page.locator("[data-run-row]").first().waitFor()
    expect(await focused()).not.toBe("content")
  })

  test("single-letter shortcuts can be turned off", async () => {
    const { page, go } = await suite.visit()
    await go("/account", ".row-static")
    await page.getByLabel("Single-letter shortcuts").uncheck()
    await page.getByRole("heading", { level: 1 }).click()
    await page.keyboard.press("n")
    await page.keyboard.press("?")
    expect(new URL(page.url()).pathname).toBe("/account")
    expect(await page.locator("dialog[open]").count()).toBe(0)
  })

  test("Enter expands and collapses a change in the plan", async () => {
    const { page, go } = await suite.visit()
    await go(`/w/acme/runs/${reviewRun}`, ".change")
    const row = page.locator(".change", { hasText: "aws_iam_policy.deploy" })
    // The row is initially open, so the change within the value is already visible.
    await row.getByText("s3:PutObject").first().waitFor()
    await row.locator("summary").first().focus()
    await page.keyboard.press("Enter")
    await row.getByText("s3:PutObject").first().waitFor({ state: "hidden" })
    expect(await row.evaluate((element) => element.hasAttribute("open"))).toBe(false)
    await page.keyboard.press("Enter")
    await row.getByText("s3:PutObject").first().waitFor()
  })

  test("language and theme change immediately and persist", async () => {
    const { page, go } = await suite.visit()
    await go("/account", ".row-static")
    await page.getByLabel("Language").selectOption("ja")
    await page.getByRole("heading", { level: 1, name: "アカウント" }).waitFor()
    await page.getByLabel("テーマ").selectOption("dark")
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "アカウント" }).waitFor()
    expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dataset.theme])).toEqual([
      "ja",
      "dark"
    ])
  })
})
