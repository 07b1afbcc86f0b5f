import { describe, expect, test } from "bun:test"
import type { Source } from "../../src/dashboard/api/Types.ts"
import { syncBothWords } from "../../src/dashboard/screens/capsule/SyncBoth.tsx"
import { sourceWords } from "../../src/dashboard/screens/sources/Words.ts"
import { storefrontId } from "./support/records/Capsules.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()

const worldWith = (change: Partial<Source>) => {
  const world = newWorld()
  const storefront = world.capsules.find(({ id }) => id === storefrontId)
  if (storefront === undefined) throw new Error("no capsule")
  world.sources = world.sources.map((each) => (each.id === storefront.sourceId ? { ...each, ...change } : each))
  world.capsules = world.capsules.map((each, index) =>
    each.id === storefrontId
      ? { ...each, autoUpdate: { enabled: false, apply: false } }
      : index === 1
        ? { ...each, name: "neighbour", sourceId: storefront.sourceId, autoUpdate: { enabled: true, apply: false } }
        : each
  )
  return { world, sourceId: storefront.sourceId }
}

describe("Auto-update", () => {
  for (const look of [lightEnglish, darkJapanese, phone])
    test(`turning on auto-update also turns on sync for the source and lists the other capsules, when viewed in ${look.language} at ${look.width ?? 1360} px`, async () => {
      const words = syncBothWords[look.language]
      const { world, sourceId } = worldWith({ autoSync: false })
      const { page, api, faults, go } = await suite.visit(look, world)
      await go(`/w/acme/capsules/${storefrontId}/danger`, ".panel-danger")
      const notice = page.locator(".notice", { hasText: words.title })
      await notice.getByText("neighbour").waitFor()
      await notice.getByRole("listitem").filter({ hasText: "neighbour" }).getByText(words.planned).waitFor()
      expect(await barriers(page)).toEqual([])
      await notice.getByRole("button", { name: words.both }).click()
      await notice.waitFor({ state: "detached" })
      expect(api.changes.map(({ path, body }) => [path, body])).toEqual([
        [`/api/v1/sources/${sourceId}`, { autoSync: true }],
        [`/api/v1/capsules/${storefrontId}`, { autoUpdate: { enabled: true, apply: false } }]
      ])
      expect(faults).toEqual([])
    })

  test("auto-update does not mention the source if it syncs automatically", async () => {
    const { page, go } = await suite.visit(lightEnglish, worldWith({ autoSync: true }).world)
    await go(`/w/acme/capsules/${storefrontId}/danger`, ".panel-danger")
    expect(await page.getByText(syncBothWords.en.title).count()).toBe(0)
  })
})

describe("Webhook card", () => {
  for (const look of [lightEnglish, darkJapanese, phone])
    test(`the webhook card shows the last delivery with its verdict, in ${look.language} at ${look.width ?? 1360} px`, async () => {
      const words = sourceWords[look.language]
      const { world, sourceId } = worldWith({
        lastDelivery: { at: new Date(Date.now() - 60_000).toISOString(), verdict: "unproven", runCount: 0 }
      })
      const { page, faults, go } = await suite.visit(look, world)
      await go(`/w/acme/sources/${sourceId}`, ".steps")
      await page.getByText(words.verdicts.unproven, { exact: true }).waitFor()
      await page.getByText(words.verdictText.unproven()).waitFor()
      await page.getByText(`/hooks/sources/${sourceId}`).waitFor()
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })
})
