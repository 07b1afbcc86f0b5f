import { Data, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { RunRow } from "./RunRow.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"

/**
 * The right to write to a running Run. The hold is valid only for the owner that claimed the Run, and only under the fence
 * of that claim. Once the Run has ended or been claimed again, writes with the old hold are refused.
 */
export interface RunHold {
  readonly runId: RunId
  readonly owner: string
  readonly fence: number
}

/**
 * The execution with this hold no longer owns the Run, so nothing was written. This error does not mean that the Run failed.
 */
export class HoldLost extends Schema.TaggedError<HoldLost>()("HoldLost", {
  runId: RunId,
  message: Schema.String
}) {}

export const holdLost = ({ fence, owner, runId }: RunHold): HoldLost =>
  new HoldLost({
    runId,
    message: `${owner} does not hold the Run ${runId} under fence ${fence} any more: it has ended or was claimed again.`
  })

/**
 * Somebody asked the Run to stop before its result was committed. The result has not been written, and the Run must end as
 * cancelled, with this evidence.
 */
export class StopRequested extends Data.TaggedError("StopRequested")<{
  readonly hold: RunHold
  readonly evidence: RunEvidence | undefined
}> {}

/** Returns the hold of a running Run. Calling it for any other Run is a bug. */
export const holdOf = (run: Pick<RunRow, "id" | "owner" | "fence">): RunHold => {
  if (run.owner === null) throw new Error(`The Run ${run.id} has no owner, so nobody holds it.`)
  return { runId: run.id, owner: run.owner, fence: run.fence }
}

/** SQL condition that every write by an execution must include. */
export const isHeld = (sql: SqlClient.SqlClient, { fence, owner, runId }: RunHold) =>
  sql`id = ${runId} AND status = 'running' AND owner = ${owner} AND fence = ${fence}`

/** Fails with `HoldLost` if the statement changed no row. */
export const changedUnder = <E>(
  hold: RunHold,
  rows: Effect.Effect<ReadonlyArray<unknown>, E>
): Effect.Effect<void, E | HoldLost> =>
  Effect.flatMap(rows, ({ length }) => (length === 0 ? Effect.fail(holdLost(hold)) : Effect.void))
