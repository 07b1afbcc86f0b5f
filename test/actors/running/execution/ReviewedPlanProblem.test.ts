import { expect, test } from "bun:test"
import { Result } from "effect"
import { reviewedPlan, savedPlan } from "../../../../actors/running/execution/ReviewedPlanProblem.ts"
import type { RunRow } from "../../../../actors/ledger/run/RunRow.ts"
import { RunId } from "../../../../schema/records/Ids.ts"

const apply = RunId.make("run_00000000000000000000000001")
const tool = { name: "opentofu", version: "1.10.0" } as const
const plan = { approved_at: "2026-01-01T00:00:00.000Z", used_by_run_id: apply, status: "succeeded" } as const
type Facts = Parameters<typeof reviewedPlan<Pick<RunRow, "approved_at" | "used_by_run_id" | "status">>>[2]
const facts: Facts = { plan, moved: undefined, madeWith: tool }

const codeOf = (result: Result.Result<unknown, { readonly code: string }>) =>
  Result.isFailure(result) ? result.failure.code : undefined

const cases: ReadonlyArray<readonly [different: Partial<Facts>, code: string | undefined]> = [
  [{}, undefined],
  [{ plan: undefined }, "plan_not_usable"],
  [{ plan: { ...plan, approved_at: null } }, "plan_not_usable"],
  [{ plan: { ...plan, used_by_run_id: null } }, "plan_not_usable"],
  [{ plan: { ...plan, used_by_run_id: RunId.make("run_00000000000000000000000002") } }, "plan_not_usable"],
  [{ plan: { ...plan, status: "superseded" as const } }, "plan_not_usable"],
  [{ moved: "The profile has changed." }, "superseded"],
  [{ madeWith: undefined }, "tool_changed"],
  [{ madeWith: { ...tool, version: "1.9.0" } }, "tool_changed"],
  [{ madeWith: { ...tool, name: "terraform" as const } }, "tool_changed"]
]

test.each(cases)("%p: %s", (different, code) => {
  expect(codeOf(reviewedPlan(apply, tool, { ...facts, ...different }))).toBe(code)
})

test("an unapproved plan is reported as unapproved rather than outdated", () => {
  expect(codeOf(reviewedPlan(apply, tool, { plan: undefined, moved: "It moved.", madeWith: undefined }))).toBe(
    "plan_not_usable"
  )
})

test.each([
  ["all of it", { build: "sha256:a" }, "sha256:p", true, undefined],
  ["a plan without a build", {}, "sha256:p", false, undefined],
  ["no saved plan", undefined, "sha256:p", true, "plan_not_usable"],
  ["no digest", {}, null, true, "plan_not_usable"],
  ["a build that is gone", { build: "sha256:a" }, "sha256:p", false, "plan_not_usable"]
] as const)("%s", (_name, saved, digest, hasBuild, code) => {
  expect(codeOf(savedPlan(saved, digest, hasBuild))).toBe(code)
})
