import { expect, test } from "bun:test"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite } from "./support/Suite.ts"

const suite = browserSuite()

test("an output lists the capsules that consume it, and can be copied", async () => {
  const world = newWorld()
  const [dependency] = world.dependencies
  if (dependency === undefined) throw new Error("no dependency")
  world.dependencies = [
    {
      ...dependency,
      producerCapsuleId: storefrontId,
      consumerCapsuleId: "cap_0000000000000002",
      outputs: [{ from: "url", to: "shop_url", required: false }]
    }
  ]
  const { page, faults, go } = await suite.visit(undefined, world)
  await go(`/w/acme/capsules/${storefrontId}`, ".outputs dd")
  const url = page.locator(".outputs > div", { hasText: "url" }).first()
  await url.getByRole("link", { name: "checkout" }).waitFor()
  expect(await page.locator(".output-takers").count()).toBe(1)
  expect(await url.getByRole("button").count()).toBe(1)
  expect(await barriers(page)).toEqual([])
  expect(faults).toEqual([])
})

test.each(["en", "ja"] as const)(
  "a structure in a string is laid out, its copy is unchanged, and a sensitive output is listed without its value (%s)",
  async (language) => {
    const world = newWorld()
    const [output] = world.outputs
    if (output === undefined) throw new Error("no output")
    const raw = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow"}]}'
    world.outputs = [output, { ...output, name: "policy", value: raw }]
    const { page, faults, go } = await suite.visit({ language, theme: "light" }, world)
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
    await go(`/w/acme/capsules/${storefrontId}`, ".outputs dd")
    const row = (name: string) => page.locator(".outputs > div", { hasText: name })
    expect(await row("policy").locator("pre").innerText()).toBe(JSON.stringify(JSON.parse(raw), null, 2))
    await row("policy").getByRole("button").click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(raw)
    await row("admin_password").getByText(capsuleWords[language].outputHidden).waitFor()
    // The button shows only the word "Copy", but its label includes the text to be copied.
    const copy = vocabulary[language].copy
    await row("url")
      .getByRole("button", { name: `${copy}: https://shop.acme.example/`, exact: true })
      .waitFor()
    expect(await page.getByRole("button", { name: `${copy}: ${copy}`, exact: true }).count()).toBe(0)
    expect(await barriers(page)).toEqual([])
    expect(faults).toEqual([])
  }
)
