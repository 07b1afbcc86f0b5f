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
    // A Capsule without dependencies is counted but not drawn.
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

  test("a graph of 300 Capsules can be searched and navigated with only the keyboard", async () => {
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

  test.each(["en", "ja"] as const)(
    "the overview uses its width, names the dot under the pointer or with the focus, and draws all links on demand (%s)",
    async (language) => {
      const { page, go } = await suite.visit({ language, theme: "light", width: 1440, height: 900 }, largeWorld())
      await go("/w/acme/graph", ".node-centre")
      const place = page.locator(".layers-place")
      const free = await place.evaluate((element) => {
        const last = element.querySelector(".layer:last-child")?.getBoundingClientRect().right ?? 0
        return element.getBoundingClientRect().right - last
      })
      expect(free).toBeLessThan(24)
      const links = async () =>
        ((await page.locator(".layers-links path").getAttribute("d")) ?? "").split("M").length - 1
      expect(await page.locator(".layers-links").count()).toBe(0)
      const dot = page.locator(".dot").nth(3)
      await dot.hover()
      const name = (await dot.getAttribute("aria-label"))?.split(" ")[0] ?? "?"
      await page.locator(".dot-name", { hasText: name }).waitFor()
      expect(await links()).toBeGreaterThan(0)
      await page.mouse.move(0, 0)
      await page.locator(".dot-name").waitFor({ state: "detached" })
      await page.locator(".dot[tabindex='0']").focus()
      await page.locator(".dot-name").waitFor()
      await page.getByRole("button", { name: graphWords[language].allLinks }).click()
      expect(await links()).toBe(535)
      expect(await barriers(page)).toEqual([])
    }
  )

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

  test("the graph reports when a search finds nothing, and offers a list as an alternative", async () => {
    const { page, go } = await suite.visit(darkJapanese)
    await go("/w/acme/graph?q=nowhere", ".node-centre")
    expect(await page.locator(".finder-none").textContent()).toBe(ja.nothingFound)
    await page.getByText(ja.list).click()
    expect(await page.locator(".fold li").allTextContents()).toContain(`storefront ${ja.takes("network")}`)
  })
})
