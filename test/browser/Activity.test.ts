import { describe, expect, test } from "bun:test"
import { barriers, browserSuite, darkJapanese } from "./support/Suite.ts"

const suite = browserSuite()

describe("the activity", () => {
  test("is in names: who, what, which record, and what they said", async () => {
    const { page, faults, go } = await suite.visit()
    await go("/w/acme/activity", ".activity-row")
    const row = (text: string) => page.locator(".activity-row", { hasText: text })
    await row("Mina Sato approved a plan.").getByText("Looks right.").waitFor()
    await row("planned a change of a capsule's configuration.")
      .getByRole("link", { name: "storefront · production" })
      .waitFor()
    await row("synced a source.").getByRole("link", { name: "git.acme.example/infra/platform" }).waitFor()
    expect(await barriers(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test("is filtered in an address that shows the same to everybody, and so is its export", async () => {
    const { page, go } = await suite.visit()
    await go("/w/acme/activity", ".activity-row")
    await page.getByLabel("Action").selectOption("run.approve")
    await page.waitForFunction(() => document.querySelectorAll(".activity-row").length === 1)
    expect(new URL(page.url()).searchParams.get("action")).toBe("run.approve")
    await page.reload()
    await page.locator(".activity-row", { hasText: "approved a plan." }).waitFor()
    expect(await page.locator(".activity-row").count()).toBe(1)
    const href = await page.getByRole("link", { name: "Export as JSON lines" }).getAttribute("href")
    expect(href).toContain("action=run.approve")
    await page.getByLabel("Action").selectOption("token.create")
    await page.getByText("Nothing matches these filters").waitFor()
    await page.getByRole("button", { name: "Clear filters" }).click()
    await page.locator(".activity-row", { hasText: "synced a source." }).waitFor()
    expect(new URL(page.url()).search).toBe("")
  })

  test("reads an address with nonsense in it, in Japanese on a phone", async () => {
    const { page, faults, go } = await suite.visit({ ...darkJapanese, width: 390, height: 844 })
    await go("/w/acme/activity?from=never&until=&person=usr_unknown", "h1")
    await page.getByText("条件に合う記録はありません").waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
    expect(faults).toEqual([])
  })
})
