import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { planEndWords } from "../../src/dashboard/screens/run/PlanEndWords.ts"
import { runWords } from "../../src/dashboard/screens/run/Words.ts"
import { lapsed } from "./support/records/Approvals.ts"
import { applyRun, baseRun, safeRun } from "./support/records/Runs.ts"
import { barriers, browserSuite, darkJapanese, lightEnglish, type Visit } from "./support/Suite.ts"

const suite = browserSuite()
const review = `/w/acme/runs/${safeRun}`
const newerRun = "run_00000000000000ff"
const looks = [
  ["en", lightEnglish],
  ["ja", darkJapanese]
] as const

/** Changes the plan from outside the page, and notifies the page as the server would. */
const changed = (
  { api }: Visit,
  change: Partial<(typeof api.world.runs)[number]>,
  kind: "run.superseded" | "run.cancelled",
  reason?: string
) => {
  api.world.runs = api.world.runs.map((run) => (run.id === safeRun ? { ...run, ...change } : run))
  api.emitEvent(safeRun, { kind, data: reason === undefined ? {} : { reason } })
}

/** Opens a page with a plan that nobody has applied. */
const visited = async (look = lightEnglish) => {
  const visit = await suite.visit(look)
  visit.api.world.runs = visit.api.world.runs.filter(({ id }) => id !== applyRun)
  return visit
}

const opened = async (visit: Visit, language: "en" | "ja" = "en") => {
  await visit.go(review, ".decision")
  await visit.page
    .getByTestId("decision")
    .getByRole("button", { name: decisionWords[language].approveAndApply })
    .click()
  return visit.page.getByRole("dialog")
}

const decisionsOf = async (page: Page, language: "en" | "ja" = "en") => {
  const words = decisionWords[language]
  const dialog = page.getByRole("dialog")
  return [
    await dialog.getByRole("button", { name: words.approveAndApply }).isDisabled(),
    await dialog.getByRole("button", { name: words.approveOnly }).isDisabled()
  ]
}

describe("Open approvals", () => {
  for (const [language, look] of looks) {
    const words = planEndWords[language]

    test(`an open approval dialog shows the plan, state and configuration that it applies to (${language})`, async () => {
      const visit = await visited(look)
      visit.api.world.runs = visit.api.world.runs.map((run) =>
        run.id === safeRun
          ? {
              ...run,
              purpose: "rollback" as const,
              profile: "untrusted",
              injectedInputs: [{ input: "network_id", change: "changed" as const }],
              outputChanges: [
                { name: "address", actions: ["create"], sensitive: false },
                { name: "password", actions: ["create"], sensitive: true }
              ]
            }
          : run
      )
      const dialog = await opened(visit, language)
      const facts = runWords[language]
      for (const text of ["network_id", "untrusted", facts.sandboxes.bubblewrap, facts.networks.isolated])
        await dialog.getByText(text, { exact: true }).waitFor()
      await dialog.getByText("Deny the legacy export and rotate the signing key").waitFor()
      await dialog.getByText("address", { exact: true }).waitFor()
      expect(await dialog.getByText("password").count()).toBe(0)
      await dialog.getByTestId("plan-what").waitFor()
      expect(await barriers(visit.page)).toEqual([])
    })

    test(`an open approval dialog is disabled if a newer plan supersedes its plan, and links to the newer plan (${language})`, async () => {
      const visit = await visited(look)
      const dialog = await opened(visit, language)
      expect(await decisionsOf(visit.page, language)).toEqual([false, false])
      visit.api.world.runs = [
        baseRun({
          id: newerRun,
          type: "plan",
          status: "waiting_approval",
          capsuleId: "cap_0000000000000005",
          createdAt: new Date().toISOString()
        }),
        ...visit.api.world.runs
      ]
      changed(visit, { status: "superseded" }, "run.superseded", "A newer plan was computed.")
      const end = dialog.getByTestId("plan-end")
      await end.getByText(words.title).waitFor()
      await end.getByText(words.reasons.superseded).waitFor()
      await end.getByText("A newer plan was computed.").waitFor()
      expect(await decisionsOf(visit.page, language)).toEqual([true, true])
      expect(await barriers(visit.page)).toEqual([])
      await end.getByRole("link", { name: words.newer }).click()
      await visit.page.waitForURL(`**/runs/${newerRun}`)
      await visit.page.getByRole("dialog").waitFor({ state: "detached" })
      await visit.page.getByTestId("decision").waitFor()
    })
  }

  test("an open approval dialog is disabled when another person discards the plan in another browser", async () => {
    const visit = await visited()
    const dialog = await opened(visit)
    const context = await visit.page.context().browser()?.newContext()
    if (context === undefined) throw new Error("The browser is gone.")
    const other = await context.newPage()
    await other.goto(`${visit.api.origin}${review}`)
    await other.getByTestId("decision").getByRole("button", { name: decisionWords.en.discard }).click()
    await other.getByRole("dialog").locator("button[type=submit], .button-danger").last().click()
    await dialog.getByText(planEndWords.en.reasons.discarded).waitFor()
    expect(await decisionsOf(visit.page)).toEqual([true, true])
    expect(visit.api.changes.map(({ path }) => path)).toEqual([`/api/v1/runs/${safeRun}/cancel`])
    await context.close()
  })

  test("an open approval dialog is disabled when the plan's approval is withdrawn", async () => {
    const visit = await visited()
    const dialog = await opened(visit)
    changed(visit, { status: "cancelled", approvedAt: new Date().toISOString() }, "run.cancelled")
    await dialog.getByText(planEndWords.en.reasons.withdrawn).waitFor()
    expect(await dialog.locator("button[type=submit]").isDisabled()).toBe(true)
  })

  test("an open approval dialog is disabled when the capsule changes or is released", async () => {
    for (const [change, reason] of [
      [{ executionAuthorityEpoch: 9 }, planEndWords.en.reasons.moved],
      [{ status: "released" as const }, planEndWords.en.reasons.capsule_ended]
    ] as const) {
      const visit = await visited()
      visit.api.world.runs = visit.api.world.runs.map((run) =>
        run.id === safeRun ? { ...run, executionAuthorityEpoch: 1 } : run
      )
      const dialog = await opened(visit)
      visit.api.world.capsules = visit.api.world.capsules.map((capsule) =>
        capsule.id === "cap_0000000000000005" ? { ...capsule, ...change } : capsule
      )
      visit.api.emitEvent(safeRun, { kind: "run.phase", data: {} })
      await dialog.getByText(reason).waitFor()
      expect(await decisionsOf(visit.page)).toEqual([true, true])
    }
  })

  test("an open approval dialog is disabled when the plan expires", async () => {
    const visit = await visited()
    await visit.page.clock.install()
    visit.api.world.runs = visit.api.world.runs.map((run) =>
      run.id === safeRun ? { ...run, expiresAt: new Date(Date.now() + 3_600_000).toISOString() } : run
    )
    const dialog = await opened(visit)
    await visit.page.clock.fastForward(3_700_000)
    await dialog.getByText(planEndWords.en.reasons.expired).waitFor()
    expect(await decisionsOf(visit.page)).toEqual([true, true])
  })

  test("an open approval dialog shows that an earlier approval no longer counts", async () => {
    const visit = await visited()
    const { api } = visit
    await visit.page.clock.install()
    api.world.runs = api.world.runs.map((run) =>
      run.id === safeRun ? { ...run, status: "succeeded" as const, approvedAt: new Date().toISOString() } : run
    )
    await visit.go(review, ".decision")
    await visit.page.getByTestId("decision").getByRole("button", { name: decisionWords.en.applyNow }).click()
    api.world.approvals = lapsed
    // The Run has no event for a lapsed approval, so the page notices it only at the next poll.
    await visit.page.clock.runFor(20_000)
    await visit.page.getByRole("dialog").getByText(planEndWords.en.reasons.lapsed).waitFor()
    expect(await visit.page.getByRole("dialog").locator("button[type=submit]").isDisabled()).toBe(true)
  })
})
