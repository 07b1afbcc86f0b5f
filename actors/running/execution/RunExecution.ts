import { Context, type Effect } from "effect"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import type { RunType } from "../../../schema/records/Run.ts"
import type { HoldLost, StopRequested } from "../../ledger/run/RunHold.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

/** The services for an execution while its Run is running. */
export interface RunControl {
  readonly sink: RunSink
  /** Completes when a stop of the Run is requested. */
  readonly cancelRequested: Effect.Effect<void>
  /** The folder for this attempt: absolute path, does not exist yet, removed once the Run is settled. */
  readonly runFolder: string
  /** Records how the Run ended, repeatedly while the database refuses (a full disk), until the service stops. */
  readonly record: <A, E>(end: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/**
 * Executes one claimed Run and settles it. Every outcome is recorded on the Run; the execution fails only if it has lost the Run,
 * after which it writes nothing, or if a stop was requested, in which case the executor ends it.
 */
export type RunExecution = (run: RunRow, control: RunControl) => Effect.Effect<void, HoldLost | StopRequested>

/** One execution per Run type. */
export class RunExecutions extends Context.Service<RunExecutions, Readonly<Record<RunType, RunExecution>>>()(
  "svc/actors/running/execution/RunExecutions"
) {}
