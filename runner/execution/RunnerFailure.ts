import { Schema } from "effect"
import { RunPhase } from "../../schema/events/RunEvent.ts"
import { RunLimitCode } from "../../schema/records/RunConfinement.ts"
import { RunDiagnostic } from "../../schema/records/Run.ts"

export const RunnerFailureReason = Schema.Literals([
  /**
   * The job is inconsistent: an invalid name, a credential that cannot be delivered, or a digest that differs from the
   * reviewed digest.
   */
  "job_invalid",
  "already_started",
  "prepare_failed",
  "sandbox_refused",
  /** The machine cannot meet the Run's execution profile. */
  "profile_unavailable",
  "tool_missing",
  "build_failed",
  "init_failed",
  "plan_failed",
  "output_unreadable",
  "timed_out",
  "cancelled",
  "killed",
  ...RunLimitCode.literals
])
export type RunnerFailureReason = typeof RunnerFailureReason.Type

/**
 * A run ended without a result. An apply fails in this way only before its tool has started, so nothing has changed.
 *
 * - `sandboxKilled`: the tool did not stop and was killed
 * - `message`, `diagnostics`: redacted
 */
export class RunnerFailure extends Schema.TaggedError<RunnerFailure>()("RunnerFailure", {
  reason: RunnerFailureReason,
  phase: RunPhase,
  message: Schema.String,
  diagnostics: Schema.Array(RunDiagnostic),
  sandboxKilled: Schema.Boolean
}) {}

export const runnerFailure = (
  reason: RunnerFailureReason,
  phase: RunPhase,
  message: string,
  more: { readonly diagnostics?: ReadonlyArray<RunDiagnostic>; readonly sandboxKilled?: boolean } = {}
): RunnerFailure =>
  new RunnerFailure({
    reason,
    phase,
    message,
    diagnostics: more.diagnostics ?? [],
    sandboxKilled: more.sandboxKilled ?? false
  })
