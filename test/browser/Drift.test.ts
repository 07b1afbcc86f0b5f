import { describe, expect, test } from "bun:test"
import { driftFoundWords } from "../../src/dashboard/screens/drift/DriftFoundWords.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { planBasisWords } from "../../src/dashboard/screens/run/PlanBasisWords.ts"
import { planWords } from "../../src/dashboard/screens/run/PlanWords.ts"
import type { Run } from "../../src/dashboard/api/Types.ts"
import { change } from "./support/records/PlanChanges.ts"
import { driftRun, reviewRun } from "./support/records/Runs.ts"
import { newWorld } from "./support/routes/World.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish } from "./support/Suite.ts"

const suite = browserSuite()

const drifted = "cap_0000000000000004"
const found = [
  change("aws_s3_bucket.logs", ["delete"], [{ name: "bucket", before: "acme-logs" }]),
  change(
    "aws_security_group.office",
    ["update"],
    [{ name: "description", before: "office", after: "office (temporary)" }]
  )
]

/** Creates a world in which a check found these differences and a plan would accept them. */
const world = () => {
  const made = newWorld()
  const review = made.runs.find(({ id }) => id === reviewRun)
  if (review === undefined) throw new Error("no plan")
  const accepting: Run = {
    ...review,
    capsuleId: review.capsuleId ?? "",
    purpose: "accept_drift",
    refreshOnly: true,
    planSummary: { add: 0, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 },
    resourceChanges: [],
    outputChanges: [],
    resourceDrift: found,
    driftedResources: found.length
  }
  made.runs = made.runs.map((run) =>
    run.id === reviewRun ? accepting : run.id === driftRun ? { ...run, resourceDrift: found } : run
  )
  return made
}

for (const [language, look] of [
  ["en", lightEnglish],
  ["ja", darkJapanese]
] as const) {
  const words = driftFoundWords[language]
  const plans = planWords[language]
  describe(`drift (${language})`, () => {
    test("a Capsule's page lists drift by resource, and offers a plan for each way to resolve the drift", async () => {
      const { page, faults, go } = await suite.visit(look, world())
      const asked: Array<string> = []
      page.on("request", (request) => {
        if (request.method() === "POST") asked.push(`${new URL(request.url()).pathname} ${request.postData() ?? ""}`)
      })
      await go(`/w/acme/capsules/${drifted}`, "[data-testid=drift]")
      const rows = page.getByTestId("drift").locator(".change")
      expect(await rows.locator("summary").allInnerTexts()).toEqual([
        expect.stringContaining(plans.driftKinds.destroy),
        expect.stringContaining(plans.driftKinds.update)
      ])
      // Values of a deleted object have no label; values of a changed object are labelled "was" and "is".
      expect(await rows.first().locator(".attributes").count()).toBe(0)
      expect((await rows.last().locator(".value-sides").innerText()).replaceAll(/\s+/g, " ")).toBe(
        `${plans.was} "office" → ${plans.is} "office (temporary)"`
      )
      await page.getByText(words.acceptHelp).waitFor()
      await page.getByText(words.found(2)).waitFor()
      expect(await barriers(page)).toEqual([])
      await page.getByRole("button", { name: words.accept }).click()
      await page.waitForURL(/\/runs\/run_/)
      await go(`/w/acme/capsules/${drifted}`, "[data-testid=drift]")
      await page.getByRole("button", { name: words.putBack }).click()
      await page.waitForURL(/\/runs\/run_/)
      expect(asked).toEqual([
        `/api/v1/capsules/${drifted}/plan {"refreshOnly":true}`,
        `/api/v1/capsules/${drifted}/reconcile-plan {}`
      ])
      expect(faults).toEqual([])
    })

    test("drift can also be resolved from the page of the drift check", async () => {
      const { page, go } = await suite.visit(look, world())
      await go(`/w/acme/runs/${driftRun}`, ".change")
      await page.getByRole("button", { name: words.putBack }).waitFor()
      await page.getByRole("button", { name: words.accept }).click()
      await page.waitForURL(({ pathname }) => /\/runs\/run_/.test(pathname) && !pathname.endsWith(driftRun))
    })

    test("a void refresh-only plan can be repeated as a refresh-only plan", async () => {
      const made = world()
      made.runs = made.runs.map((run) => (run.id === reviewRun ? { ...run, status: "superseded" } : run))
      const { page, go } = await suite.visit(look, made)
      await go(`/w/acme/runs/${reviewRun}`, ".change")
      const asked = page.waitForRequest((request) => request.method() === "POST")
      await page.getByRole("button", { name: decisionWords[language].runAgain }).click()
      const request = await asked
      expect([new URL(request.url()).pathname.endsWith("/plan"), request.postData()]).toEqual([
        true,
        `{"refreshOnly":true}`
      ])
    })

    test("accepting drift shows a review and a dialog that mention the state but no resource changes", async () => {
      const { page, faults, go } = await suite.visit(look, world())
      await go(`/w/acme/runs/${reviewRun}`, ".change")
      const decision = page.getByTestId("decision")
      await decision.getByText(decisionWords[language].reviewAccepts(2)).waitFor()
      await decision.getByText(planBasisWords[language].what.accept_drift).waitFor()
      await page.getByRole("heading", { name: plans.changesAccepted }).waitFor()
      expect(await page.getByText(plans.noChanges, { exact: true }).count()).toBe(0)
      expect(await barriers(page)).toEqual([])
      await decision.getByRole("button", { name: decisionWords[language].approveAndApply }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByText(decisionWords[language].reviewAccepts(2)).waitFor()
      expect(await dialog.getByText(plans.noChanges, { exact: true }).count()).toBe(0)
      expect(await barriers(page)).toEqual([])
      expect(faults).toEqual([])
    })
  })
}
