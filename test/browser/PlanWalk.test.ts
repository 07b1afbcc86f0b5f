import { describe, expect, test } from "bun:test"
import { standingWords } from "../../src/dashboard/screens/run/ApprovalStandingWords.ts"
import { planBasisWords } from "../../src/dashboard/screens/run/PlanBasisWords.ts"
import { planWords } from "../../src/dashboard/screens/run/PlanWords.ts"
import { commitWords } from "../../src/dashboard/ui/CommitWords.ts"
import { lapsed } from "./support/records/Approvals.ts"
import { reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()

describe("First-time users", () => {
  for (const [language, look] of [
    ["en", lightEnglish],
    ["ja", darkJapanese]
  ] as const) {
    test(`a first-time user finds a plan's changes, commit and approver on the Run's page (${language})`, async () => {
      const world = newWorld()
      world.approvals = lapsed
      const { faults, go, page } = await suite.visit(look, world)
      await go(`/w/acme/runs/${reviewRun}`, "[data-testid=approvals]")
      // The test presses no key from here on, because everything must already be visible.
      const main = page.getByRole("main")
      await main.getByText("Statement[14] › LegacyExportRead › Effect").first().waitFor()
      await main.getByText("acme-audit-prod").first().waitFor()
      const decision = page.getByTestId("decision")
      // The decision also shows how many objects are imported and moved.
      for (const kind of ["import", "move"] as const) {
        await decision.getByText(planWords[language].kinds[kind]).waitFor()
      }
      await decision.getByText("Deny the legacy export and rotate the signing key").waitFor()
      await decision.getByText(commitWords[language].by("Aiko Tanaka")).waitFor()
      const standing = page.getByTestId("approvals")
      const { approvals } = lapsed(
        world.runs.find(({ id }) => id === reviewRun) ??
          (() => {
            throw new Error("no Run")
          })()
      )
      expect(approvals.length).toBeGreaterThan(0)
      await standing.getByText(standingWords[language].approved("").trim()).first().waitFor()
      await standing.getByText("fine by me").waitFor()
      expect(faults).toEqual([])
    })

    test(`a first-time user loads the changed files on request (${language})`, async () => {
      const { page, go } = await suite.visit(look)
      const asked: Array<string> = []
      page.on("request", (request) => asked.push(new URL(request.url()).pathname))
      await go(`/w/acme/runs/${reviewRun}`, "[data-testid=changed-files]")
      const files = page.getByTestId("changed-files")
      expect(asked.filter((path) => path.endsWith("/source-changes"))).toEqual([])
      await files.locator("summary").click()
      await files.getByText("policy.tf").waitFor()
      await files.getByText(planBasisWords[language].fileCount(1), { exact: true }).waitFor()
    })
  }
})
