import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import { isFinalStatus } from "../../schema/records/RunLifecycle.ts"
import type { RunRow } from "./RunRow.ts"

/** What a coordinator does about the Run of its current phase: waits for it, takes its result, or fails with it. */
export type CoordinatorStep = "wait" | "advance" | "fail"

/** For a sync or a check, which has to finish. */
export const stepAfterJob = (run: Pick<RunRow, "status"> | undefined): CoordinatorStep => {
  if (run === undefined || !isFinalStatus(run.status)) return "wait"
  return run.status === "succeeded" ? "advance" : "fail"
}

/** For a plan, which becomes reviewable once it is computed and remains so regardless of the review's outcome. */
export const stepAfterPlan = (run: Pick<RunRow, "status" | "approved_at"> | undefined): CoordinatorStep => {
  if (run === undefined || run.status === "queued" || run.status === "running") return "wait"
  return run.status === "waiting_approval" || run.approved_at !== null ? "advance" : "fail"
}

/** The coordinator's message about a Run that causes it to fail. */
export const failureOf = (
  run: Pick<RunRow, "id" | "status" | "error_code" | "error_message">,
  step: "source sync" | "compatibility check" | "plan"
): Finding => ({
  severity: "error",
  code: run.error_code ?? `${step}_${run.status}`,
  message: run.error_message ?? `The ${step} Run ${run.id} is ${run.status}.`
})
