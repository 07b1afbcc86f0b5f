import { describe, expect, test } from "bun:test"
import { newWorld } from "./support/routes/World.ts"
import { commit } from "./support/records/Seeds.ts"
import { browserSuite } from "./support/Suite.ts"

const suite = browserSuite()
const link = `/install?kind=capsule-source-options&git=${encodeURIComponent("https://git.acme.example/infra/shop.git")}&path=install%2Foptions.json`

describe("Document links", () => {
  test("opening a document link reads nothing until the person requests it, and the chosen option is pinned to a commit", async () => {
    const { page, api, faults, go } = await suite.visit()
    await go(link, ".facts")
    await page.getByText("Newest stable version").waitFor()
    expect(api.changes).toEqual([])

    await page.getByRole("button", { name: "Read the document" }).click()
    await page.getByText("v2.4.1, the newest stable version").waitFor()
    await page.getByText("install/options.json").waitFor()
    await page.getByRole("heading", { name: "Shop, in three sizes" }).waitFor()
    const created = api.changes.find(({ method, path }) => method === "POST" && path === "/api/v1/sources")?.body
    expect(created).toMatchObject({ url: "https://git.acme.example/infra/shop.git", defaultRef: commit(41) })
    await page.locator("dt", { hasText: "Size" }).waitFor()
    const factOf = (name: string) =>
      page.locator(".facts > div", { has: page.locator("dt", { hasText: name }) }).locator("dd")
    expect(await factOf("Commit").innerText()).toBe(commit(40))
    expect(await factOf("Digest").innerText()).toMatch(/^sha256:[0-9a-f]{64}$/)
    // The digest is shown in full on a narrow screen without making the page wider.
    await page.setViewportSize({ width: 360, height: 800 })
    expect(await factOf("Digest").innerText()).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
    await page.setViewportSize({ width: 1280, height: 800 })

    await page.reload()
    await page.getByText("v2.4.1, the newest stable version").waitFor()
    expect(await page.getByRole("button", { name: "Continue with this source" }).isDisabled()).toBe(true)
    await page.getByLabel("One machine").check()
    await page.getByRole("button", { name: "Continue with this source" }).click()
    await page.getByLabel("Git address").waitFor()
    expect(await page.getByLabel("Git address").inputValue()).toBe("https://git.acme.example/infra/shop.git")
    expect(await page.getByLabel("Revision").inputValue()).toBe(commit(41))
    expect(await page.getByLabel("Folder").inputValue()).toBe("single")
    expect(faults).toEqual([])
  })

  test("a link to a document keeps the revision that an option specifies", async () => {
    const { page, go } = await suite.visit()
    await go(`${link}&ref=main`, ".facts")
    await page.getByRole("button", { name: "Read the document" }).click()
    await page.getByLabel("Cluster").check()
    await page.getByRole("button", { name: "Continue with this source" }).click()
    await page.getByLabel("Git address").waitFor()
    expect(await page.getByLabel("Revision").inputValue()).toBe("v3.1.0")
  })

  test("an invalid linked document offers no options", async () => {
    const world = newWorld()
    world.optionsDocument = world.optionsDocument.replace('"title":"Trial"', '"title":"Trial","region":"eu"')
    const { page, go } = await suite.visit(undefined, world)
    await go(link, ".facts")
    await page.getByRole("button", { name: "Read the document" }).click()
    await page.getByText("The document cannot be used").waitFor()
    expect(await page.getByRole("radio").count()).toBe(0)
  })
})
