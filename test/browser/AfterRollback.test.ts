import { describe, expect, test } from "bun:test"
import type { Capsule } from "../../src/dashboard/api/Types.ts"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { driftFoundWords } from "../../src/dashboard/screens/drift/DriftFoundWords.ts"
import { autoUpdateWords } from "../../src/dashboard/screens/capsule/AutoUpdates.tsx"
import { storefrontId } from "./support/records/Capsules.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, phone } from "./support/Suite.ts"

const suite = browserSuite()

const held: Partial<Capsule> = {
  status: "stale",
  staleReasons: [{ kind: "commit", sourceSnapshotId: "snap_0000000000000001" }],
  autoUpdate: {
    enabled: true,
    apply: false,
    pinnedBy: {
      runId: reviewRun,
      subject: "usr_0000000000000001",
      at: "2026-01-01T00:00:00.000Z",
      reason: "two breaks the login",
      resumeOnNewCommit: false
    }
  }
}

const visit = async (look: typeof lightEnglish, change: Partial<Capsule>) => {
  const world = newWorld()
  world.capsules = world.capsules.map((each) => (each.id === storefrontId ? { ...each, ...change } : each))
  const visited = await suite.visit(look, world)
  await visited.go(`/w/acme/capsules/${storefrontId}`, ".notice")
  return visited
}

describe("Capsules after a rollback", () => {
  for (const look of [lightEnglish, darkJapanese, phone])
    test(`the page does not suggest the commit that was just rolled back, in ${look.language} at ${look.width ?? 1360} px`, async () => {
      const words = capsuleWords[look.language]
      const { page, faults } = await visit(look, held)
      await page.getByText(autoUpdateWords[look.language].pinnedNewer).waitFor()
      expect(await page.getByText(words.staleTitle).count()).toBe(0)
      expect(await page.getByRole("button", { name: words.planUpdate, exact: true }).count()).toBe(0)
      const plan = page.getByRole("button", { name: words.planNewest, exact: true })
      expect(await plan.getAttribute("class")).not.toContain("button-primary")
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })
})

describe("Capsules after a rollback without auto-update", () => {
  test("the page of a held Capsule without auto-update offers to end the hold, but shows no button to resume auto-update", async () => {
    const { page } = await visit(lightEnglish, {
      ...held,
      autoUpdate: { ...held.autoUpdate, enabled: false, apply: false }
    })
    await page.getByText(autoUpdateWords.en.pinnedTitle).waitFor()
    expect(await page.getByRole("button", { name: autoUpdateWords.en.pinnedResume, exact: true }).count()).toBe(0)
    expect(await page.getByText(autoUpdateWords.en.pinnedUntilPerson).count()).toBe(0)
    await page.getByRole("button", { name: autoUpdateWords.en.pinnedEnd, exact: true }).click()
    await page.getByText(autoUpdateWords.en.pinnedTitle).waitFor({ state: "detached" })
  })
})

describe("Destroyed capsules", () => {
  for (const look of [lightEnglish, darkJapanese, phone])
    test(`the page of a destroyed capsule offers nothing to resume or repair, in ${look.language} at ${look.width ?? 1360} px`, async () => {
      const words = capsuleWords[look.language]
      const { page, faults } = await visit(look, { ...held, status: "destroyed", driftStatus: "drifted" })
      await page.getByText(words.gone).waitFor()
      for (const name of [
        autoUpdateWords[look.language].pinnedResume,
        words.planNewest,
        words.plan,
        driftFoundWords[look.language].putBack
      ])
        expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0)
      expect(await page.getByText(words.autoUpdateStates.plan, { exact: true }).count()).toBe(0)
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })
})
