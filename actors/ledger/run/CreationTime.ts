import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import type { RunGroupId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../../base/database/Table.ts"
import { now, nowAfter } from "../../base/Identity.ts"

const Newest = rowShape({ newest: Schema.NullOr(Timestamp) })

/**
 * The time of a new Run. Lists and queues order Runs by time, then by id, and an id that is derived has no order. Each Run of a group
 * gets a later time than the previous one, also when the clock is set back. Runs in the caller's transaction.
 */
export const creationTime = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, groupId: RunGroupId | undefined) {
  if (groupId === undefined) return yield* now
  const [row] = yield* Newest.rows(sql)`SELECT MAX(created_at) AS newest FROM runs WHERE run_group_id = ${groupId}`
  return yield* nowAfter(row?.newest)
})
