import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { rowShape } from "../database/Table.ts"

/**
 * How long an agent may execute an apply without hearing from the server. Its tool is dead before its lease ends, by the
 * agent's clock; the server waits a minute longer, and one percent for clocks that run at different rates.
 */
export const applySeconds = (leaseSeconds: number): number => leaseSeconds * 1.01 + 60

const Restored = rowShape({ restored_at: Schema.NullOr(Timestamp) })

/**
 * Until when no apply of a pool starts after a restore; `undefined` once that time is over. An agent may still execute an
 * apply that the backup does not contain, and two tools must never work on one Capsule.
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
