import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { RunGroupId } from "../../../schema/records/Ids.ts"
import { Flag, rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"

const OpenUpdate = rowShape({ id: RunGroupId, is_due: Flag })

/**
 * The updates whose next step may be due. Looking for them after each commit would add 5% to the time of every command, so it
 * happens only while an update is open.
 *
 * - `opening`: runs an effect that may open an update, in a transaction, which must be the outermost one
 * - `due`: oldest first; reads nothing if no update was open at the last check and `opening` has not been called since
 */
export const dueUpdates = (sql: SqlClient.SqlClient, read: SqlClient.SqlClient) => {
  let openings = 0
  let without: number | undefined
  const count = Effect.sync(() => {
    openings++
  })
  const look = Effect.suspend(() => {
    const since = openings
    return Effect.map(
      Effect.orDie(OpenUpdate.rows(read)`SELECT g.id, g.moved <> g.seen
            OR (g.held_by_pause = 1 AND w.automation_paused_at IS NULL AND w.archived_at IS NULL) AS is_due
          FROM run_groups g JOIN workspaces w ON w.id = g.workspace_id
          WHERE g.finished_at IS NULL AND g.type = 'update' ORDER BY g.created_at, g.id`),
      (open) => {
        if (open.length === 0) without = since
        return open.filter((update) => update.is_due === 1)
      }
    )
  })
  return {
    // Counted before and after: a check in between may or may not have seen the update.
    opening: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.ensuring(Effect.andThen(count, transaction(sql)(effect)), count),
    due: Effect.suspend(() => (openings === without ? Effect.succeed([]) : look))
  }
}
