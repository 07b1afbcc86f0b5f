import { describe, expect, test } from "bun:test"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { historyWords } from "../../src/dashboard/screens/capsule/HistoryWords.ts"
import { inputWords } from "../../src/dashboard/screens/capsule/InputWords.ts"
import { readmeWords } from "../../src/dashboard/screens/capsule/ReadmeWords.ts"
import { whyWords } from "../../src/dashboard/screens/run/WhyWords.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()
const capsule = `/w/acme/capsules/${storefrontId}`
const looks = [lightEnglish, darkJapanese, { ...lightEnglish, ...phone }]

describe("Capsule story", () => {
  for (const look of looks) {
    const width = look.width ?? 1440
    const { language } = look

    test(`a capsule's history has a line for each change, with links to its runs (${language}, ${width} px)`, async () => {
      const { page, faults, go } = await suite.visit(look)
      await go(`${capsule}/history`, ".history li")
      const lines = page.locator(".history > li")
      expect(await lines.count()).toBeGreaterThan(1)
      const applied = lines.filter({ has: page.locator("[data-step=apply] a") }).first()
      const order = await applied
        .locator("[data-step]")
        .evaluateAll((steps) => steps.map((step) => step.dataset["step"]))
      expect(order).toEqual(["commit", "plan", "approval", "apply", "drift"])
      const plan = await applied.locator("[data-step=plan] a").getAttribute("href")
      expect(plan).toMatch(/^\/w\/acme\/runs\/run_/)
      expect(await applied.locator("[data-step=apply] a").getAttribute("href")).not.toBe(plan)
      // Plan and apply are on one line if the page is wide enough.
      if (width > 900) {
        const tops = await applied
          .locator("[data-step=plan] a, [data-step=apply] a")
          .evaluateAll((steps) => steps.map((step) => Math.round(step.getBoundingClientRect().top / 12)))
        expect(new Set(tops).size).toBe(1)
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      expect(await barriers(page)).toEqual([])
      await page.getByText(historyWords[language].about).waitFor()
      expect(faults).toEqual([])
    })

    test(`a capsule's README is rendered without its HTML, and loads nothing from other servers (${language}, ${width} px)`, async () => {
      const { page, faults, go } = await suite.visit(look)
      const asked: Array<string> = []
      page.on("request", (request) => asked.push(request.url()))
      await go(`${capsule}/readme`, ".readme h3")
      const readme = page.getByTestId("readme")
      await readme.getByText(readmeWords[language].image("Diagram of the service")).waitFor()
      await readme.getByRole("cell", { name: "replicas" }).waitFor()
      expect(asked.filter((url) => url.includes("pictures.acme.example"))).toEqual([])
      expect(await readme.locator("img, script, b, [onclick]").count()).toBe(0)
      const links = await readme
        .locator("a")
        .evaluateAll((all) => all.map((link) => [link.getAttribute("href") ?? "", link.getAttribute("rel") ?? ""]))
      expect(links.length).toBeGreaterThan(0)
      for (const [href, rel] of links) {
        expect(href).toStartWith("https://")
        expect(rel).toContain("noopener")
      }
      expect(links.some(([href]) => href === "https://shop.acme.example/")).toBe(true)
      // A badge is a single link to the badge's target, not to its image.
      for (const [badge, target] of [
        ["Build status", "https://ci.acme.example/storefront"],
        ["Coverage", "https://ci.acme.example/coverage"]
      ] as const) {
        const link = readme.getByRole("link", { name: readmeWords[language].image(badge) })
        expect([badge, await link.count(), await link.getAttribute("href")]).toEqual([badge, 1, target])
      }
      expect(await readme.locator("a a").count()).toBe(0)
      expect(await page.title()).not.toBe("taken over")
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })

    test(`a capsule's inputs show the origin of each value, but not the value (${language}, ${width} px)`, async () => {
      const words = inputWords[language]
      const { page, faults, go } = await suite.visit(look)
      await go(`${capsule}/configuration`, ".inputs .input-source :is(a, .status)")
      const rows = page.locator(".inputs > li")
      const rowOf = (name: string) => rows.filter({ has: page.locator(".input-name", { hasText: name }) })
      await rowOf("name").getByText(words.sources.capsule_name).waitFor()
      await rowOf("replicas").getByText(words.sources.set, { exact: true }).waitFor()
      await rowOf("session_key").getByText(words.sensitive).waitFor()
      // Opening the form hides the list, so no input appears twice.
      expect(await page.locator(".field-declared").count()).toBe(0)
      await page.getByRole("button", { name: capsuleWords[language].configTitle, exact: true }).click()
      expect(await page.evaluate(() => document.activeElement?.closest(".field") !== null)).toBe(true)
      expect(await rows.count()).toBe(0)
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })

    test(`a plan explains the cause of every change (${language}, ${width} px)`, async () => {
      const words = whyWords[language]
      const { page, faults, go } = await suite.visit(look)
      await go(`/w/acme/runs/${reviewRun}`, "[data-testid=why]")
      const panel = page.getByTestId("why-changed")
      await panel.getByText(words.since).waitFor()
      await panel.getByText(words.input("office_range", "changed")).waitFor()
      const whyOf = (address: string) => page.locator(".change", { hasText: address }).getByTestId("why")
      await whyOf("aws_iam_policy.deploy").getByText(words.because(words.driftHere)).waitFor()
      const possible = await whyOf("ingress").innerText()
      expect(possible).toContain("office_range")
      expect(possible).toContain("b41d09e0")
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })
  }
})
