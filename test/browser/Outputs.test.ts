import { expect, test } from "bun:test"
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
