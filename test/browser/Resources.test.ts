import { describe, expect, test } from "bun:test"
import { resourceWords } from "../../src/dashboard/screens/capsule/ResourceWords.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { manyResources } from "./support/records/StateResources.ts"
import { without } from "./support/records/Seeds.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()
const path = `/w/acme/capsules/${storefrontId}/resources`

describe("Capsule resources", () => {
  for (const look of [lightEnglish, darkJapanese, { ...lightEnglish, ...phone }]) {
    test(`a resource row expands to its changes by keyboard, and is accessible (${look.language}, ${look.width ?? 1440} px)`, async () => {
      const words = resourceWords[look.language]
      const { page, faults, go } = await suite.visit(look)
      await go(path, ".resource-address")
      const row = page.getByRole("button", { name: /aws_ecs_service\.api/ })
      await row.focus()
      await page.keyboard.press("Enter")
      const changes = page.getByRole("region", { name: words.history("aws_ecs_service.api") })
      await changes.getByText(words.drift).waitFor()
      expect(await row.getAttribute("aria-expanded")).toBe("true")
      const events = await changes.locator(".resource-event").allInnerTexts()
      expect(events).toHaveLength(3)
      expect(events[0]).toContain("desired_count")
      expect(events[1]).toContain("Aiko")
      expect(events[2]).toContain(words.recordGone)
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      expect(await barriers(page)).toEqual([])
      // An open row does not overlap the row below it.
      const [open, next] = [
        await changes.boundingBox(),
        await page.getByRole("button", { name: /deploy/ }).boundingBox()
      ]
      expect((open?.y ?? 0) + (open?.height ?? 0)).toBeLessThanOrEqual((next?.y ?? 0) + 1)
      await row.press("Enter")
      await changes.waitFor({ state: "detached" })
      expect(faults).toEqual([])
    })
  }

  test("resources can be searched, and a list of 5,000 loads while scrolling", async () => {
    const world = { ...newWorld(), resources: manyResources(5000) }
    const { page, faults, go } = await suite.visit(undefined, world)
    let pages = 0
    page.on("request", (request) => {
      if (/^\/api\/.*\/resources$/.test(new URL(request.url()).pathname)) pages += 1
    })
    await go(path, ".resource-address")
    expect(pages).toBeLessThan(4)
    const list = page.locator(".long-list")
    const last = page.getByText("module.fleet.aws_instance.web[4999]", { exact: true })
    while ((await last.count()) === 0) {
      await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
      expect(await page.locator(".resource-item").count()).toBeLessThan(80)
      await page.evaluate(() => new Promise(requestAnimationFrame))
    }
    expect(pages).toBe(50)
    await page.keyboard.press("/")
    await page.keyboard.type("WEB[0777]")
    await page.getByText(resourceWords.en.shown(1, false)).waitFor()
    await page.getByText("module.fleet.aws_instance.web[0777]", { exact: true }).waitFor()
    await page.keyboard.type("x")
    await page.getByText(resourceWords.en.noneFound).waitFor()
    expect(faults).toEqual([])
  })

  test("the page reports that there are no resources before the first apply", async () => {
    const world = newWorld()
    world.capsules = world.capsules.map((capsule) => without(capsule, "currentStateVersionId"))
    const { page, go } = await suite.visit(undefined, world)
    await go(path, ".empty")
    await page.getByText(resourceWords.en.noState).waitFor()
  })
})

describe("Missing resources", () => {
  for (const address of [`/w/acme/capsules/${storefrontId}/nothing`, "/w/acme/capsules/cap_9999999999999999"]) {
    test(`an address that does not exist shows a page with a heading and a link back: ${address}`, async () => {
      const { page, go } = await suite.visit()
      await go(address, "h1.empty-title")
      expect(await page.locator("h1").count()).toBe(1)
      await page.locator(".empty-action a").click()
      await page.waitForURL(/\/w\/acme$/)
    })
  }
})
