import { expect, test } from "bun:test"
import { failuresOf, stepAfterJob, stepAfterPlan } from "../../../../actors/ledger/run/CoordinatorSteps.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { RunStatus } from "../../../../schema/records/Run.ts"

const at = "2026-01-01T00:00:00.000Z"

test("a coordinator waits for an unfinished sync or check, and continues only after its success", () => {
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

test("a plan can be reviewed as soon as it is computed, and even after it is approved", () => {
  const steps = RunStatus.literals.map((status) => [
    status,
    [
      stepAfterPlan({ status, purpose: null, approved_at: null }),
      stepAfterPlan({ status, purpose: null, approved_at: at })
    ]
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

test("a speculative plan can be reviewed once it has succeeded", () => {
  const steps = RunStatus.literals.map((status) => [
    status,
    stepAfterPlan({ status, purpose: "speculative", approved_at: null })
  ])
  expect(Object.fromEntries(steps)).toEqual({
    queued: "wait",
    running: "wait",
    waiting_approval: "fail",
    succeeded: "advance",
    failed: "fail",
    cancelled: "fail",
    superseded: "fail",
    expired: "fail"
  })
})

test("a coordinator fails with the code and message of its Run, or reports how the Run ended", () => {
  const run = { id: RunId.make("run_00000000000000000000000a"), status: "cancelled", evidence: "{}" } as const
  expect(failuresOf({ ...run, error_code: "ref_not_found", error_message: "No such ref." }, "source sync")).toEqual([
    { severity: "error", code: "ref_not_found", message: "No such ref." }
  ])
  expect(failuresOf({ ...run, error_code: null, error_message: null }, "plan")).toEqual([
    { severity: "error", code: "plan_cancelled", message: `The plan Run ${run.id} is cancelled.` }
  ])
})

test("each error of a failed tool is reported with its detail and location, without repeating the summary", () => {
  const diagnostics = [
    { severity: "warning", summary: "Deprecated" },
    {
      severity: "error",
      summary: "Invalid value for variable",
      detail: "The size is too small.",
      path: "main.tf",
      line: 3
    },
    { severity: "error", summary: "Second", detail: "x".repeat(3000) }
  ]
  const run = {
    id: RunId.make("run_00000000000000000000000a"),
    status: "failed",
    evidence: JSON.stringify({ diagnostics }),
    error_code: "plan_failed"
  } as const
  const [first, second, ...more] = failuresOf({ ...run, error_message: "Invalid value for variable" }, "plan")
  expect(first).toEqual({
    severity: "error",
    code: "plan_failed",
    message: "Invalid value for variable: The size is too small.",
    path: "main.tf",
    line: 3
  })
  expect(second?.message.length).toBe(2001)
  expect(more).toEqual([])
  expect(failuresOf({ ...run, error_message: "It did not end in time." }, "plan")[0]?.message).toBe(
    "It did not end in time."
  )
})
