import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { appWords } from "../../src/dashboard/app/Words.ts"
import { barriers, browserSuite, darkJapanese } from "./support/Suite.ts"

const suite = browserSuite()
const { en, ja } = appWords

/** Simulates a server that is down: every request fails, including requests for the dashboard's files. */
const disconnect = async (page: Page) => {
  let gone = true
  await page.route("**/*", (route) => (gone ? route.abort("connectionrefused") : route.fallback()))
  return () => {
    gone = false
  }
}

/** Marks the document. A missing mark means that the page was reloaded. */
const mark = (page: Page) => page.evaluate(() => Reflect.set(globalThis, "__same", true))
const isSame = (page: Page) => page.evaluate(() => Reflect.get(globalThis, "__same") === true)

describe("Offline clicks", () => {
  test("clicking a link to an unloaded screen while offline keeps the page, reports the outage, and opens the screen later", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    await mark(page)
    const reconnect = await disconnect(page)
    await page.getByRole("link", { name: en.connections }).click()
    await page.getByText(en.unreachableClick).waitFor()
    expect(await page.locator(".attention-row").first().isVisible()).toBe(true)
    expect(await barriers(page)).toEqual([])
    // The screen retries on request and automatically, but the server is still down.
    await page.getByRole("button", { name: en.unreachableRetry }).click()
    await page.getByText(en.unreachableClick).waitFor()
    reconnect()
    await page.locator(".row-connection").first().waitFor()
    expect(new URL(page.url()).pathname).toBe("/w/acme/connections")
    expect(await page.getByText(en.unreachable).count()).toBe(0)
    expect(await isSame(page)).toBe(true)
  })

  test("a click on a link to a loaded screen while offline also waits for the server, unless another click replaces it", async () => {
    const { page, go } = await suite.visit(darkJapanese)
    await go("/w/acme/runs", ".run-row")
    await page.getByRole("link", { name: ja.home }).click()
    await page.locator(".attention-row").first().waitFor()
    await mark(page)
    const reconnect = await disconnect(page)
    // The page notices the outage when its list polls or a link prefetches its target.
    await page.getByRole("link", { name: ja.sources }).hover()
    await page.getByText(ja.unreachable).waitFor()
    await page.getByRole("link", { name: ja.sources }).click()
    await page.getByRole("link", { name: ja.runs, exact: true }).click()
    await page.getByText(ja.unreachableClick).waitFor()
    expect(await page.locator(".attention-row").first().isVisible()).toBe(true)
    reconnect()
    // By itself.
    await page.locator(".run-row").first().waitFor()
    expect(new URL(page.url()).pathname).toBe("/w/acme/runs")
    expect(await isSame(page)).toBe(true)
  })

  test("signing out while offline reports a failure and keeps the page open", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    // Loads the menu's code before the outage.
    await page.locator(".side-account").click()
    await page.locator(".menu").waitFor()
    const reconnect = await disconnect(page)
    await page.getByRole("menuitem", { name: en.signOut }).click()
    await page.getByText(en.signOutFailed).waitFor()
    expect(await page.locator(".attention-row").first().isVisible()).toBe(true)
    reconnect()
  })

  test("the page does not treat a missing file on the server as an outage, and reloads once", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme", ".attention-row")
    await mark(page)
    let missing = true
    // Simulates an upgrade of the server: the files of the old version no longer exist.
    await page.route("**/assets/ConnectionsScreen-*", (route) =>
      missing ? route.fulfill({ status: 404 }) : route.fallback()
    )
    const link = page.getByRole("link", { name: en.connections })
    await link.hover()
    await page.waitForLoadState("networkidle")
    const loaded = page.waitForEvent("load")
    await link.click()
    await loaded
    missing = false
    expect(await isSame(page)).toBe(false)
  })
})
