import { Context, type Effect } from "effect"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import type { RunType } from "../../../schema/records/Run.ts"
import type { HoldLost, StopRequested } from "../../ledger/run/RunHold.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

/** Services for the execution of one running Run. */
export interface RunControl {
  readonly sink: RunSink
  /** Completes when somebody requests that the Run stops. */
  readonly cancelRequested: Effect.Effect<void>
  /** Absolute path of the folder for this attempt. It does not exist yet, and is removed once the Run is settled. */
  readonly runFolder: string
  /** Records the end of a Run. Retries until svc stops if the database refuses, for example because of a full disk. */
  readonly record: <A, E>(end: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/**
 * Executes and settles one claimed Run. Every outcome is recorded on the Run. The execution fails only if it has lost the Run, in
 * which case it writes nothing more, or if a stop was requested, in which case the executor ends the Run.
 */
export type RunExecution = (run: RunRow, control: RunControl) => Effect.Effect<void, HoldLost | StopRequested>

/** The execution for each Run type. */
export class RunExecutions extends Context.Service<RunExecutions, Readonly<Record<RunType, RunExecution>>>()(
  "svc/actors/running/execution/RunExecutions"
) {}
