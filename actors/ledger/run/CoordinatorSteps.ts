import type { Finding } from "../../../schema/records/CompatibilityReport.ts"
import { isFinalStatus } from "../../../schema/records/RunLifecycle.ts"
import type { RunDiagnostic } from "../../../schema/records/Run.ts"
import { EvidenceJson, type RunRow } from "./RunRow.ts"

/** A coordinator's reaction to the Run of its current phase: it waits for the Run, takes its result, or fails with it. */
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

/** Longer details are in the Run's log. */
const longestMessage = 2000

const withDetail = ({ detail, line, path, summary }: RunDiagnostic): Omit<Finding, "code" | "severity"> => {
  const message = detail === undefined || detail === "" ? summary : `${summary}: ${detail}`
  return {
    message: message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message,
    ...(path === undefined ? {} : { path }),
    ...(line === undefined ? {} : { line })
  }
}

/** The coordinator's messages about a Run that causes it to fail: the failure, and each error of the tool with its detail. */
export const failuresOf = (
  run: Pick<RunRow, "id" | "status" | "error_code" | "error_message" | "evidence">,
  step: "source sync" | "compatibility check" | "plan"
): ReadonlyArray<Finding> => {
  const code = run.error_code ?? `${step}_${run.status}`
  const failure = run.error_message ?? `The ${step} Run ${run.id} is ${run.status}.`
  const errors = (EvidenceJson.read(run.evidence).diagnostics ?? []).filter(({ severity }) => severity === "error")
  // The failure repeats the summary of the first error.
  const isNamed = errors.some(({ summary }) => summary === failure)
  return [
    ...(isNamed ? [] : [{ severity: "error" as const, code, message: failure }]),
    ...errors.map((error) => ({ severity: "error" as const, code, ...withDetail(error) }))
  ]
}
