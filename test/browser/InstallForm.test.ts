import { describe, expect, test } from "bun:test"
import { formWords } from "../../src/dashboard/forms/Words.ts"
import { installWords } from "../../src/dashboard/screens/install/Words.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()
const open = "https://git.acme.example/infra/platform.git"

describe("Repository addresses", () => {
  for (const look of [lightEnglish, darkJapanese]) {
    test(`the form offers the https form of an ssh repository address, which can be chosen by keyboard (${look.language})`, async () => {
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

  test("no source remains after a person enters an address that cannot be read", async () => {
    const world = newWorld()
    const before = world.sources.map(({ id }) => id)
    const { page, api, faults, go } = await suite.visit(undefined, world)
    await go("/new", "input[type=url]")
    await page.locator("input[type=url]").fill("https://git.acme.example/infra/missing.git")
    await page.getByRole("button", { name: installWords.en.read }).click()
    await page.getByText(installWords.en.removed).waitFor()
    expect(world.sources.map(({ id }) => id)).toEqual(before)
    // The page does not request the removal, because the server removes the source even if the page is closed.
    expect(api.changes.map(({ method }) => method)).toEqual(["POST"])
    expect(faults).toEqual([])
  })

  test("entering the address of an existing source reuses that source", async () => {
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
    test(`install inputs show their type and default, and validate JSON while a person types (${look.language}, ${look.width ?? 1440} px)`, async () => {
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

const read = `/install?git=${encodeURIComponent(open)}&ref=main&path=modules%2Fservice`
const variable = (name: string, line: number, required: boolean) => ({
  name,
  type: "string" as const,
  required,
  hasDefault: !required,
  sensitive: false,
  ephemeral: false,
  declaredAt: { path: "variables.tf", line }
})

/** Creates a module with a provider that svc does not support. */
const foreignProvider = () => {
  const world = newWorld()
  world.presentation = undefined
  world.connections = []
  world.report = {
    ...world.report,
    status: "ready",
    findings: [],
    manifest: { status: "absent", diagnostics: [] },
    variables: [variable("zone", 1, false), variable("alias", 5, true), variable("bucket", 9, true)],
    rootProviderRequirements: [
      { provider: "example.test/acme/demo", moduleLocalName: "demo" },
      { provider: "hashicorp/random", moduleLocalName: "random" }
    ]
  }
  return world
}

describe("Unknown providers", () => {
  for (const look of [lightEnglish, darkJapanese, phone]) {
    const { language } = look
    const words = installWords[language]
    test(`if a provider is unknown, the form requires a connection, or one click that declares "needs none" (${language}, ${look.width ?? 1360} px)`, async () => {
      const { page, api, faults, go } = await suite.visit(look, foreignProvider())
      await go(read, "input[type=url]")
      await page.getByRole("button", { name: words.read }).click()
      const select = page.getByLabel(words.connectionFor("demo"))
      await select.waitFor()
      expect(await select.locator("option").allTextContents()).toEqual([words.connectionChoose])
      expect(await page.getByLabel(words.connectionFor("random")).locator("option").allTextContents()).toEqual([
        words.connectionNone
      ])
      await page.getByLabel("alias").fill("a")
      await page.getByLabel("bucket").fill("b")
      await page.getByLabel(words.buildAllow).check()
      await page.getByRole("button", { name: words.makePlan }).click()
      expect(api.changes.filter(({ path }) => path.endsWith("/install-plans"))).toEqual([])
      await page.getByText(words.connectionMissing).waitFor()
      expect(await select.evaluate((element) => element === document.activeElement)).toBe(true)
      expect(await barriers(page)).toEqual([])
      await page.getByRole("button", { name: words.connectionFree }).click()
      await page.getByRole("option", { name: words.connectionFreeName("demo") }).waitFor({ state: "attached" })
      expect(api.changes.at(-1)?.body).toMatchObject({ provider: "example.test/acme/demo", authMode: "none" })
      await page.getByRole("button", { name: words.makePlan }).click()
      await page.getByRole("heading", { level: 1 }).waitFor()
      await page.waitForURL(/\/runs\/run_/)
      expect(faults).toEqual([])
    })

    test(`the form lists missing fields with links, required fields first (${language}, ${look.width ?? 1360} px)`, async () => {
      const { page, go } = await suite.visit(look, foreignProvider())
      await go(read, "input[type=url]")
      await page.getByRole("button", { name: words.read }).click()
      await page.getByLabel("alias").waitFor()
      expect(
        await page
          .locator(".form .form .input-mono, .form input[name]")
          .evaluateAll((all) => all.map((each) => each.getAttribute("name")))
      ).toEqual(["alias", "bucket", "zone"])
      // The name comes from the module, and completed steps are collapsed.
      expect(await page.getByLabel(words.name, { exact: true }).inputValue()).toBe("service")
      expect(await page.locator("input[type=url]").isVisible()).toBe(false)
      await page.getByLabel(words.name, { exact: true }).fill("")
      await page.getByRole("button", { name: words.makePlan }).click()
      const summary = page.getByRole("alert").filter({ hasText: words.fixThese })
      await summary.waitFor()
      expect(
        await page.getByLabel(words.name, { exact: true }).evaluate((element) => element === document.activeElement)
      ).toBe(true)
      expect(await summary.getByRole("link").allTextContents()).toEqual([
        words.name,
        "alias",
        "bucket",
        words.connectionFor("demo"),
        words.buildAllow
      ])
      await summary.getByRole("link", { name: "bucket" }).click()
      expect(await page.getByLabel("bucket").evaluate((element) => element === document.activeElement)).toBe(true)
      expect(await barriers(page)).toEqual([])
      await page.getByRole("button", { name: `${words.change}: ${words.steps.source}` }).click()
      await page.locator("input[type=url]").waitFor()
    })
  }

  test("the form keeps the submitted values on the page until the plan opens", async () => {
    const { page, go } = await suite.visit(lightEnglish, foreignProvider())
    await go(read, "input[type=url]")
    await page.getByRole("button", { name: installWords.en.read }).click()
    await page.getByLabel("alias").fill("a")
    await page.getByLabel("bucket").fill("b")
    await page.getByRole("button", { name: installWords.en.connectionFree }).click()
    await page.getByRole("option", { name: installWords.en.connectionFreeName("demo") }).waitFor({ state: "attached" })
    await page.getByLabel(installWords.en.buildAllow).check()
    await page.evaluate(() => {
      const seen: Array<string> = []
      Reflect.set(globalThis, "__addresses", seen)
      new MutationObserver(() => {
        const address = document.querySelector("input[type=url]")
        if (address instanceof HTMLInputElement) seen.push(address.value)
      }).observe(document, { childList: true, subtree: true, attributes: true })
    })
    await page.getByRole("button", { name: installWords.en.makePlan }).click()
    await page.waitForURL(/\/runs\/run_/)
    await page.getByRole("heading", { level: 1, name: /^Plan/ }).waitFor()
    const seen = await page.evaluate((): unknown => Reflect.get(globalThis, "__addresses"))
    expect(new Set(Array.isArray(seen) ? seen : [])).toEqual(new Set([open]))
    expect(
      await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("svc.install")))
    ).toEqual([])
  })
})
