import { describe, expect, test } from "bun:test"
import type { Run } from "../../src/dashboard/api/Types.ts"
import { plannedRefWords } from "../../src/dashboard/screens/run/PlannedRef.tsx"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()

/** Creates a world in which the reviewed plan is a speculative plan for a stale branch. */
const world = () => {
  const made = newWorld()
  const review = made.runs.find(({ id }) => id === reviewRun)
  if (review === undefined) throw new Error("no plan")
  const speculative: Run = {
    ...review,
    status: "succeeded",
    speculative: true,
    requiresApproval: false,
    base: {
      ref: "main",
      resolvedCommit: "a".repeat(40),
      standing: "stale",
      mergeBase: "b".repeat(40),
      behind: 2,
      undoneFiles: ["network/main.tf"],
      undoneFileCount: 3
    }
  }
  made.runs = made.runs.map((run) => (run.id === reviewRun ? speculative : run))
  return made
}

for (const [language, look] of [
  ["en", lightEnglish],
  ["ja", darkJapanese]
] as const) {
  const words = plannedRefWords[language]
  const kind = vocabulary[language].speculativePlan
  describe(`speculative plans (${language})`, () => {
    test("the page of a speculative plan shows its kind, warns about a stale branch and offers no approval", async () => {
      const { page, faults, go } = await suite.visit(look, world())
      await go(`/w/acme/runs/${reviewRun}`, "[data-testid=planned-ref]")
      expect(await page.locator("h1").textContent()).toContain(kind)
      const text = (await page.getByTestId("planned-ref").textContent()) ?? ""
      for (const part of [words.speculative, words.stale("main", 2), "network/main.tf", words.more(2)]) {
        expect(text).toContain(part)
      }
      expect(await page.locator("[data-decide]").count()).toBe(0)
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })

    test("the list of Runs marks a speculative plan", async () => {
      const { page, faults, go } = await suite.visit(look, world())
      await go("/w/acme/runs", `[href$="/runs/${reviewRun}"]`)
      expect(await page.locator(`a[href$="/runs/${reviewRun}"]`).first().textContent()).toContain(kind)
      expect(faults).toEqual([])
    })
  })
}
