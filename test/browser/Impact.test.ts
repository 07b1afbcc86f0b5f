import { describe, expect, test } from "bun:test"
import type { Run } from "../../src/dashboard/api/Types.ts"
import { impactWords } from "../../src/dashboard/screens/run/ImpactWords.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()

/** Creates test data in which the reviewed plan has these properties. */
const worldOf = (more: Partial<Run>) => {
  const world = newWorld()
  world.runs = world.runs.map((run) => (run.id === reviewRun ? { ...run, ...more } : run))
  return world
}

for (const [language, look] of [
  ["en", lightEnglish],
  ["ja", darkJapanese]
] as const) {
  const words = impactWords[language]
  describe(`Plan impact (${language})`, () => {
    test("a plan shows consequences, cost, checks, and the consumers of changed outputs", async () => {
      const world = worldOf({
        outputChanges: [
          { name: "url", actions: ["update"], sensitive: false, before: "a", after: "b" },
          { name: "bucket", actions: ["no-op"], sensitive: false }
        ],
        checks: [
          { kind: "check", address: "check.reachable", status: "pass", instances: [] },
          {
            kind: "resource",
            address: "aws_instance.web",
            status: "fail",
            instances: [{ address: "aws_instance.web[0]", status: "fail", problems: ["Only eu regions are allowed."] }]
          }
        ],
        operatorConfig: {
          digest: "sha256:a",
          variables: [],
          postApply: [{ name: "answers", target: "the endpoint", path: "/health", status: [200], timeoutSeconds: 5 }]
        }
      })
      world.cost = {
        status: "estimated",
        currency: "USD",
        monthlyDelta: 12.5,
        items: [],
        reasons: ["aws_x (1): left."]
      }
      const { page, faults, go } = await suite.visit(look, world)
      await go(`/w/acme/runs/${reviewRun}`, "[data-testid=impact]")
      const impact = page.getByTestId("impact")
      await impact.getByText(words.becomesStale).waitFor()
      const takers = (await impact.locator("dd").first().innerText()).replaceAll(/\s+/g, " ")
      expect(takers).toContain(`${words.takes} url · ${words.becomesStale}`)
      expect(takers).toContain(`${words.otherWorkspace} ${words.takes} url`)
      expect(takers).not.toContain("bucket")
      await impact.getByText(language === "en" ? "+$12.50" : "+$12.50").waitFor()
      await impact.getByText("aws_x (1): left.").waitFor()
      // Failed checks come first, with the module's own messages.
      expect((await impact.locator(".check").allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
        `${words.checkStates.fail} aws_instance.web Only eu regions are allowed.`,
        `${words.checkStates.pass} check.reachable`
      ])
      await impact.getByText("the endpoint/health").waitFor()
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })

    test("a plan explains how to set up cost estimates and checks", async () => {
      const { page, go } = await suite.visit({ ...look, width: 390, height: 844 }, worldOf({ outputChanges: [] }))
      await go(`/w/acme/runs/${reviewRun}`, "[data-testid=impact]")
      const impact = page.getByTestId("impact")
      for (const text of [words.noOutputs, words.noCost, words.costSetUp, words.noChecks, words.noAfterApply]) {
        await impact.getByText(text).waitFor()
      }
      await impact.getByText("docs/hosting.md").waitFor()
      expect(await barriers(page)).toEqual([])
    })
  })
}
