import { expect, test } from "bun:test"
import { failureOf, stepAfterJob, stepAfterPlan } from "../../../actors/run/CoordinatorSteps.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { RunStatus } from "../../../schema/records/Run.ts"

const at = "2026-01-01T00:00:00.000Z"

test("an unfinished sync or check is waited for, and the next step follows only if it succeeds", () => {
  const steps = RunStatus.literals.map((status) => [status, stepAfterJob({ status })])
  expect(Object.fromEntries(steps)).toEqual({
    queued: "wait",
    running: "wait",
    waiting_approval: "wait",
    succeeded: "advance",
    failed: "fail",
    cancelled: "fail",
    superseded: "fail",
    expired: "fail"
  })
  expect(stepAfterJob(undefined)).toBe("wait")
})

test("a plan is reviewable once it has been computed, and remains so after approval", () => {
  const steps = RunStatus.literals.map((status) => [
    status,
    [stepAfterPlan({ status, approved_at: null }), stepAfterPlan({ status, approved_at: at })]
  ])
  expect(Object.fromEntries(steps)).toEqual({
    queued: ["wait", "wait"],
    running: ["wait", "wait"],
    waiting_approval: ["advance", "advance"],
    succeeded: ["fail", "advance"],
    failed: ["fail", "advance"],
    cancelled: ["fail", "advance"],
    superseded: ["fail", "advance"],
    expired: ["fail", "advance"]
  })
  expect(stepAfterPlan(undefined)).toBe("wait")
})

test("a failure has its Run's code and message, or reports how the Run ended", () => {
  const run = { id: RunId.make("run_00000000000000000000000a"), status: "cancelled" } as const
  expect(failureOf({ ...run, error_code: "ref_not_found", error_message: "No such ref." }, "source sync")).toEqual({
    severity: "error",
    code: "ref_not_found",
    message: "No such ref."
  })
  expect(failureOf({ ...run, error_code: null, error_message: null }, "plan")).toEqual({
    severity: "error",
    code: "plan_cancelled",
    message: `The plan Run ${run.id} is cancelled.`
  })
})
