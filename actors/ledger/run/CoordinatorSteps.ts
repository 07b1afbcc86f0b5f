import { Schema } from "effect"
import { Finding } from "../../../schema/records/CompatibilityReport.ts"
import { isFinalStatus } from "../../../schema/records/RunTransitions.ts"
import type { RunDiagnostic } from "../../../schema/records/Run.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { EvidenceJson, isSpeculative, type RunRow } from "./RunRow.ts"

/** JSON column codec for the findings of a coordinator. */
export const FindingsJson = jsonText(Schema.Array(Finding))

/** The next step of a coordinator after it has read its current Run: wait for the Run, use the result, or fail. */
export type CoordinatorStep = "wait" | "advance" | "fail"

/** Decides the next step if the Run is a sync or a check. The coordinator advances once the Run has succeeded. */
export const stepAfterJob = (run: Pick<RunRow, "status"> | undefined): CoordinatorStep => {
  if (run === undefined || !isFinalStatus(run.status)) return "wait"
  return run.status === "succeeded" ? "advance" : "fail"
}

/**
 * Decides the next step if the Run is a plan. The coordinator advances once the plan is ready for review or, for a
 * speculative plan, has succeeded. It does not wait for the review.
 */
export const stepAfterPlan = (run: Pick<RunRow, "status" | "approved_at" | "purpose"> | undefined): CoordinatorStep => {
  if (run === undefined || run.status === "queued" || run.status === "running") return "wait"
  if (isSpeculative(run)) return run.status === "succeeded" ? "advance" : "fail"
  return run.status === "waiting_approval" || run.approved_at !== null ? "advance" : "fail"
}

/** Maximum length of a message. The Run's log contains longer details. */
const longestMessage = 2000

const withDetail = ({ detail, line, path, summary }: RunDiagnostic): Omit<Finding, "code" | "severity"> => {
  const message = detail === undefined || detail === "" ? summary : `${summary}: ${detail}`
  return {
    message: message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message,
    ...(path === undefined ? {} : { path }),
    ...(line === undefined ? {} : { line })
  }
}

/**
 * Returns findings for a coordinator whose Run failed: the failure of the Run, and each error from the tool with its
 * details.
 */
export const failuresOf = (
  run: Pick<RunRow, "id" | "status" | "error_code" | "error_message" | "evidence">,
  step: "source sync" | "compatibility check" | "plan"
): ReadonlyArray<Finding> => {
  const code = run.error_code ?? `${step}_${run.status}`
  const failure = run.error_message ?? `The ${step} Run ${run.id} is ${run.status}.`
  const errors = (EvidenceJson.read(run.evidence).diagnostics ?? []).filter(({ severity }) => severity === "error")
  // Omits the failure if it only repeats the summary of an error.
  const isNamed = errors.some(({ summary }) => summary === failure)
  return [
    ...(isNamed ? [] : [{ severity: "error" as const, code, message: failure }]),
    ...errors.map((error) => ({ severity: "error" as const, code, ...withDetail(error) }))
  ]
}
