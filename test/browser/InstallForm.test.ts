import { describe, expect, test } from "bun:test"
import { formWords } from "../../src/dashboard/forms/Words.ts"
import { installWords } from "../../src/dashboard/screens/install/Words.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()
const open = "https://git.acme.example/infra/platform.git"

describe("Repository addresses", () => {
  for (const look of [lightEnglish, darkJapanese]) {
    test(`an ssh address of a repository is offered in its https form, by keyboard (${look.language})`, async () => {
      const words = installWords[look.language]
      const { page, api, faults, go } = await suite.visit(look)
      await go("/new", "input[type=url]")
      const address = page.locator("input[type=url]")
      await address.fill("git@git.acme.example:infra/platform.git")
      await page.getByText(words.urlSsh).waitFor()
      expect(await barriers(page)).toEqual([])
      await address.press("Enter")
      expect(api.changes).toEqual([])
      await page.getByRole("button", { name: words.urlUse(open) }).press("Enter")
      expect(await address.inputValue()).toBe(open)
      await page.getByText(words.urlSsh).waitFor({ state: "detached" })
      expect(faults).toEqual([])
    })
  }

  test("an address that does not identify a repository is not sent", async () => {
    const { page, api, go } = await suite.visit()
    await go("/new", "input[type=url]")
    await page.locator("input[type=url]").fill("https://git.acme.example")
    await page.getByRole("button", { name: installWords.en.read }).click()
    await page.getByText(installWords.en.urlRefused).waitFor()
    expect(api.changes).toEqual([])
  })

  test("an address that cannot be read leaves no source behind", async () => {
    const world = newWorld()
    const before = world.sources.map(({ id }) => id)
    const { page, api, faults, go } = await suite.visit(undefined, world)
    await go("/new", "input[type=url]")
    await page.locator("input[type=url]").fill("https://git.acme.example/infra/missing.git")
    await page.getByRole("button", { name: installWords.en.read }).click()
    await page.getByText(installWords.en.removed).waitFor()
    expect(world.sources.map(({ id }) => id)).toEqual(before)
    // The server removes it, whether or not this page is open.
    expect(api.changes.map(({ method }) => method)).toEqual(["POST"])
    expect(faults).toEqual([])
  })

  test("the address of an existing source keeps that source", async () => {
    const world = newWorld()
    const [source] = world.sources
    if (source === undefined) throw new Error("no source")
    const url = "https://git.acme.example/infra/missing.git"
    world.sources = [{ ...source, url, defaultRef: "HEAD", defaultPath: "." }]
    const { page, api, go } = await suite.visit(undefined, world)
    await go("/new", "input[type=url]")
    await page.locator("input[type=url]").fill(url)
    await page
      .locator(".install-step select")
      .first()
      .selectOption(source.authConnectionId ?? "")
    await page.getByRole("button", { name: installWords.en.read }).click()
    await page.getByText(installWords.en.readFailed).waitFor()
    expect(api.changes.filter(({ method }) => method === "DELETE")).toEqual([])
    expect(world.sources).toHaveLength(1)
  })
})

describe("Install inputs", () => {
  for (const look of [lightEnglish, darkJapanese, phone]) {
    test(`install inputs show type and default, and check JSON as it is typed (${look.language}, ${look.width ?? 1440} px)`, async () => {
      const words = formWords[look.language]
      const world = newWorld()
      world.report = {
        ...world.report,
        variables: [
          {
            name: "allowed",
            type: "json",
            typeExpression: "list(string)",
            defaultJson: '["10.0.0.0/8"]',
            description: "Networks that may connect.",
            required: false,
            hasDefault: true,
            sensitive: false,
            ephemeral: false
          }
        ]
      }
      const { page, faults, go } = await suite.visit(look, world)
      await go(`/install?git=${encodeURIComponent(open)}&ref=main&path=modules%2Fservice`, "input[type=url]")
      await page.locator(".install-step button[type=submit]").first().click()
      const field = page.getByLabel("allowed")
      await field.waitFor()
      await page.getByText("list(string)").waitFor()
      await page.getByText('["10.0.0.0/8"]').waitFor()
      await page.getByText("Networks that may connect.").waitFor()
      await field.pressSequentially('["a"')
      await page.getByText(words.problems.json).waitFor()
      expect(await field.getAttribute("aria-invalid")).toBe("true")
      expect(await barriers(page)).toEqual([])
      await field.pressSequentially("]")
      await page.getByText(words.problems.json).waitFor({ state: "detached" })
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      expect(faults).toEqual([])
    })
  }
})
