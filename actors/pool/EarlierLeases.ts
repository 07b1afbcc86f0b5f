import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { rowShape } from "../database/Table.ts"

/**
 * When an apply that an agent may execute without another word of the server is over: its tool is dead before its lease
 * ends, by the agent's clock. The server waits a minute longer, and one percent for clocks that run at different rates.
 */
export const applySeconds = (leaseSeconds: number): number => leaseSeconds * 1.01 + 60

const Restored = rowShape({ restored_at: Schema.NullOr(Timestamp) })

/**
 * Until when no apply of a pool starts after a restore; `undefined` when that is over. The restored database may not know
 * of an apply that an agent still executes, and two tools must never work on one Capsule.
 */
export const earlierLeasesEnd = Effect.fn("earlierLeasesEnd")(function* (
  sql: SqlClient.SqlClient,
  leaseSeconds: number
) {
  const [row] = yield* Restored.rows(sql)`SELECT MAX(restored_at) AS restored_at FROM restore_review`
  if (row === undefined || row.restored_at === null) return undefined
  const end = Date.parse(row.restored_at) + applySeconds(leaseSeconds) * 1000
  return end > (yield* Clock.currentTimeMillis) ? new Date(end).toISOString() : undefined
}, Effect.orDie)
