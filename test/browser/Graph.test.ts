import { describe, expect, test } from "bun:test"
import { graphWords } from "../../src/dashboard/screens/graph/Words.ts"
import { barriers, browserSuite, darkJapanese, phone } from "./support/Suite.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { largeGraph } from "./support/LargeGraph.ts"
import { newWorld } from "./support/routes/World.ts"

const suite = browserSuite()
const { en, ja } = graphWords

const largeWorld = () => ({ ...newWorld(), graph: largeGraph(300) })

describe("the graph", () => {
  test("the graph shows one Capsule between its producers and consumers, but no Source", async () => {
    const { page, go, faults } = await suite.visit()
    await go(`/w/acme/graph?around=${storefrontId}`, ".node-centre")
    expect(await page.locator(".node-centre strong").textContent()).toBe("storefront")
    expect(await page.locator(".dot").count()).toBe(6)
    // A Capsule without dependencies is only counted.
    expect(await page.locator(".page-about").textContent()).toContain(en.apart(1))
    expect(
      await page
        .getByRole("region", { name: en.takesFrom(1) })
        .getByRole("link")
        .allTextContents()
    ).toHaveLength(1)
    await page
      .getByRole("region", { name: en.givesTo(1) })
      .getByRole("link")
      .click()
    await page.waitForURL(/around=cap_0000000000000002/)
    expect(await page.locator(".node-centre strong").textContent()).toBe("checkout")
    await page.goBack()
    await page.locator(".node-centre strong", { hasText: "storefront" }).waitFor()
    await page.getByRole("link", { name: en.open }).click()
    await page.waitForURL(/\/capsules\/cap_0000000000000001/)
    expect(faults).toEqual([])
  })

  test("a graph of 300 Capsules is searched and navigated using only the keyboard", async () => {
    const { page, go } = await suite.visit(undefined, largeWorld())
    await go("/w/acme/graph", ".node-centre")
    expect(await page.locator(".dot").count()).toBe(300)
    await page.keyboard.press("/")
    await page.keyboard.type("service-142")
    await page.locator(".finder-count", { hasText: en.found(1, 300) }).waitFor()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.locator(".node-centre strong", { hasText: "service-142" }).waitFor()
    const takes = page.locator(".neighbours-column").first().locator("a")
    await takes.first().focus()
    await page.keyboard.press("ArrowDown")
    expect(await takes.nth(1).evaluate((one) => one === document.activeElement)).toBe(true)
    await page.keyboard.press("ArrowRight")
    expect(await page.getByRole("link", { name: en.open }).evaluate((one) => one === document.activeElement)).toBe(true)
    await page.keyboard.press("ArrowLeft")
    const name = await takes.first().locator("strong").textContent()
    await page.keyboard.press("Enter")
    await page.locator(".node-centre strong", { hasText: name ?? "?" }).waitFor()
    // The overview is a single tab stop, and the arrow keys move along its layers.
    await page.locator(".dot[tabindex='0']").focus()
    expect(await page.locator(".dot[tabindex='0']").count()).toBe(1)
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await page.waitForFunction((before) => document.querySelector(".node-centre strong")?.textContent !== before, name)
  })

  test("the graph keeps the centre in view when a Capsule has many neighbours", async () => {
    const { page, go } = await suite.visit(undefined, largeWorld())
    await go("/w/acme/graph?around=cap_graph000000000000", ".node-centre")
    const gives = page.locator(".neighbours-column").last()
    expect(await gives.locator("a").count()).toBe(8)
    const all = gives.getByRole("button")
    const count = Number(/\d+/.exec((await all.textContent()) ?? "")?.[0])
    await all.click()
    expect(await gives.locator("a").count()).toBe(count)
  })

  test.each([
    ["wide, in Japanese and dark", darkJapanese],
    ["on a phone", phone]
  ])(
    "a graph of 300 Capsules has no accessibility violations and does not scroll sideways, %s",
    async (_name, look) => {
      const { page, go } = await suite.visit(look, largeWorld())
      await go("/w/acme/graph", ".node-centre")
      expect(await barriers(page)).toEqual([])
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      ).toBe(0)
    }
  )

  test("the graph reports when a search finds nothing, and is also available as a list", async () => {
    const { page, go } = await suite.visit(darkJapanese)
    await go("/w/acme/graph?q=nowhere", ".node-centre")
    expect(await page.locator(".finder-none").textContent()).toBe(ja.nothingFound)
    await page.getByText(ja.list).click()
    expect(await page.locator(".fold li").allTextContents()).toContain(`storefront ${ja.takes("network")}`)
  })
})
