import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { transaction } from "../database/Transaction.ts"

/**
 * Whether any update may be open. To look after each commit which update is due costs every command of the service a twentieth
 * of its time, and is for nothing while none is open.
 *
 * - `opening`: runs in a transaction what may open an update
 * - `mayBeAny`: `false` only if a read since the last `opening` found none
 */
export const openUpdates = (sql: SqlClient.SqlClient, read: SqlClient.SqlClient) => {
  let openings = 0
  let without: number | undefined
  const count = Effect.sync(() => {
    openings++
  })
  return {
    // Counted before and after: a read in between may or may not have seen it.
    opening: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.ensuring(Effect.andThen(count, transaction(sql)(effect)), count),
    mayBeAny: Effect.suspend(() => {
      const since = openings
      if (since === without) return Effect.succeed(false)
      return Effect.map(
        Effect.orDie(read`SELECT 1 AS one FROM run_groups WHERE finished_at IS NULL AND type = 'update' LIMIT 1`),
        (open) => {
          if (open.length === 0) without = since
          return open.length > 0
        }
      )
    })
  }
}
