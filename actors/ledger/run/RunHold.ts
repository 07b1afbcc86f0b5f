import { Data, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { RunRow } from "./RunRow.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"

/**
 * The right to write for a running Run, held by the owner that claimed it under one fence. Writes with an outdated hold are
 * refused once the Run has ended or been claimed again.
 */
export interface RunHold {
  readonly runId: RunId
  readonly owner: string
  readonly fence: number
}

/** The Run is no longer executed under this hold, so nothing was written. It does not mean that the Run failed. */
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
 * A stop was requested before the Run's result was committed. The result is not written, and the Run must end as cancelled with
 * this evidence.
 */
export class StopRequested extends Data.TaggedError("StopRequested")<{
  readonly hold: RunHold
  readonly evidence: RunEvidence | undefined
}> {}

/** The hold of a running Run. Calling it for a Run that is not running is a bug. */
export const holdOf = (run: Pick<RunRow, "id" | "owner" | "fence">): RunHold => {
  if (run.owner === null) throw new Error(`The Run ${run.id} has no owner, so nobody holds it.`)
  return { runId: run.id, owner: run.owner, fence: run.fence }
}

/** The SQL condition for every write by an execution. */
export const isHeld = (sql: SqlClient.SqlClient, { fence, owner, runId }: RunHold) =>
  sql`id = ${runId} AND status = 'running' AND owner = ${owner} AND fence = ${fence}`

/** Fails with `HoldLost` if the statement changed no row. */
export const changedUnder = <E>(
  hold: RunHold,
  rows: Effect.Effect<ReadonlyArray<unknown>, E>
): Effect.Effect<void, E | HoldLost> =>
  Effect.flatMap(rows, ({ length }) => (length === 0 ? Effect.fail(holdLost(hold)) : Effect.void))
