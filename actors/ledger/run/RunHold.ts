import { Data, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { RunRow } from "./RunRow.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"

/**
 * The right to write for a running Run, granted when one owner claims it under one fence. Every write by an execution includes
 * the hold and is refused once the Run has ended or been claimed again.
 */
export interface RunHold {
  readonly runId: RunId
  readonly owner: string
  readonly fence: number
}

/** The Run is no longer executed under this hold: nothing was written. This is not an error in the Run. */
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
 * Somebody requested the Run to stop before its result was committed: nothing of the result is written, and the Run has to end as
 * cancelled, with this evidence.
 */
export class StopRequested extends Data.TaggedError("StopRequested")<{
  readonly hold: RunHold
  readonly evidence: RunEvidence | undefined
}> {}

/** The hold under which a Run was claimed. A Run that is not running has none: asking for it is a bug. */
export const holdOf = (run: Pick<RunRow, "id" | "owner" | "fence">): RunHold => {
  if (run.owner === null) throw new Error(`The Run ${run.id} has no owner, so nobody holds it.`)
  return { runId: run.id, owner: run.owner, fence: run.fence }
}

/** The condition on every write by an execution. */
export const isHeld = (sql: SqlClient.SqlClient, { fence, owner, runId }: RunHold) =>
  sql`id = ${runId} AND status = 'running' AND owner = ${owner} AND fence = ${fence}`

/** Fails with `HoldLost` if the statement changed nothing. */
export const changedUnder = <E>(
  hold: RunHold,
  rows: Effect.Effect<ReadonlyArray<unknown>, E>
): Effect.Effect<void, E | HoldLost> =>
  Effect.flatMap(rows, ({ length }) => (length === 0 ? Effect.fail(holdLost(hold)) : Effect.void))
