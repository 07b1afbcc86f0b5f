import { Context, type Effect } from "effect"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import type { RunType } from "../../../schema/records/Run.ts"
import type { HoldLost, StopRequested } from "../../ledger/run/RunHold.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

/** Services that the executor provides to the execution of one Run. */
export interface RunControl {
  readonly sink: RunSink
  /** Completes when somebody asks the Run to stop. */
  readonly cancelRequested: Effect.Effect<void>
  /**
   * Absolute path of the folder for this attempt. The execution creates the folder, which is removed once the Run is
   * settled.
   */
  readonly runFolder: string
  /**
   * Records the end of a Run. If the database refuses the write, for example because the disk is full, retries until svc stops.
   */
  readonly record: <A, E>(end: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/**
 * Executes and settles one claimed Run, and records every outcome in the Run. Fails only if the hold on the Run was lost
 * (the execution then writes nothing more) or if somebody asked the Run to stop (the executor then ends the Run).
 */
export type RunExecution = (run: RunRow, control: RunControl) => Effect.Effect<void, HoldLost | StopRequested>

/** The executions, keyed by Run type. */
export class RunExecutions extends Context.Service<RunExecutions, Readonly<Record<RunType, RunExecution>>>()(
  "svc/actors/running/execution/RunExecutions"
) {}
