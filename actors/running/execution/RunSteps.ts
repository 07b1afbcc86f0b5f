import { Effect, Result, Schema } from "effect"
import type { RunnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import type { RunControl as PlaceControl } from "../../../runner/execution/RunPlace.ts"
import type { KillPointName } from "../../base/KillPoint.ts"
import { type HoldLost, holdOf, type RunHold, type StopRequested } from "../../ledger/run/RunHold.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import type { RunControl, RunExecution } from "./RunExecution.ts"
import { RunEvidence } from "../../../schema/records/Run.ts"

/** The reason why a Run cannot start. `superseded` means that its authority has changed. */
export class RunBlocked extends Schema.TaggedError<RunBlocked>()("RunBlocked", {
  code: Schema.String,
  message: Schema.String,
  evidence: RunEvidence
}) {}

export const blocked = (code: string, message: string, evidence: RunEvidence = {}) =>
  new RunBlocked({ code, message, evidence })

/** The result of a Run's job, reported by the machine that executed it. */
export type JobResult<Outcome, Failure = RunnerFailure> = Result.Result<Outcome, Failure>

/**
 * The steps of an execution. `prepare` and `settle` share data only through the database, so that the process that settles a
 * Run may be a different one.
 * - `prepare`: reads the authority, stores the settlement's data in one row, and returns the job. The job contains secrets and is
 *   not stored.
 * - `execute`: turns the job into an outcome, without access to the database or vault.
 * - `settle`: ends the Run using its hold, its rows and the result. Repeating this step changes nothing. - `refuse`: ends a
 *   Run that `prepare` blocked before anything was executed.
 */
export interface RunSteps<Job, Outcome, Failure = RunnerFailure> {
  readonly prepare: (run: RunRow, control: RunControl) => Effect.Effect<Job, RunBlocked | HoldLost>
  readonly execute: (job: Job, control: PlaceControl) => Effect.Effect<Outcome, Failure>
  readonly settle: (
    hold: RunHold,
    result: JobResult<Outcome, Failure>,
    control: RunControl
  ) => Effect.Effect<void, HoldLost | StopRequested>
  readonly refuse: (run: RunRow, reason: RunBlocked) => Effect.Effect<void, HoldLost>
}

/** Runs the steps in order, with kill points between them. */
export const inSteps =
  <Job, Outcome, Failure>(
    { execute, prepare, refuse, settle }: RunSteps<Job, Outcome, Failure>,
    killPoint: (name: KillPointName) => Effect.Effect<void>
  ): RunExecution =>
  (run, control) =>
    Effect.gen(function* () {
      const prepared = yield* Effect.result(prepare(run, control))
      if (Result.isFailure(prepared)) {
        const { failure } = prepared
        if (failure._tag === "HoldLost") return yield* failure
        yield* control.sink.log("prepare", "system", failure.message)
        return yield* refuse(run, failure)
      }
      yield* killPoint(`${run.type}.prepared`)
      const result = yield* Effect.result(execute(prepared.success, control))
      yield* killPoint(`${run.type}.executed`)
      yield* settle(holdOf(run), result, control)
    }).pipe(Effect.withSpan(`Run.${run.type}`))
