import { DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Timestamp } from "../../schema/records/Primitives.ts"
import type { RunGroupId } from "../../schema/records/Ids.ts"
import { rowShape } from "../database/Table.ts"
import { now } from "../Identity.ts"

const Newest = rowShape({ newest: Schema.NullOr(Timestamp) })

/**
 * The time of a new Run. Lists and queues order Runs by time, then by their random ids. Each Run of a group gets a later time than
 * the one before it, so that the group keeps the order in which its Runs were created. Runs in the caller's transaction.
 */
export const creationTime = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, groupId: RunGroupId | undefined) {
  const at = yield* now
  if (groupId === undefined) return at
  const [row] = yield* Newest.rows(sql)`SELECT MAX(created_at) AS newest FROM runs WHERE run_group_id = ${groupId}`
  const newest = row?.newest ?? null
  return newest === null || newest < at
    ? at
    : Timestamp.make(DateTime.formatIso(DateTime.add(DateTime.makeUnsafe(newest), { milliseconds: 1 })))
})
