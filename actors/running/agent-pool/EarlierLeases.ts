import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { rowShape } from "../../base/database/Table.ts"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"

/**
 * Maximum time, in seconds, that an agent may execute an apply without contact with the server. The agent kills its tool
 * before the lease expires by its own clock. The server adds a minute, and one percent for clocks that run at different
 * rates.
 */
export const applySeconds = (leaseSeconds: number): number => leaseSeconds * 1.01 + 60

const Longest = rowShape({ lease: Schema.NullOr(Schema.Int) })
const Restored = rowShape({ restored_at: Schema.NullOr(Timestamp) })

/**
 * Computes how long applies must wait after a restore. An agent may still be executing an apply that the backup does not
 * contain, and two tools must never work on one Capsule, even if the second runs in another pool or on the control plane.
 */
export class EarlierLeases extends Context.Service<
  EarlierLeases,
  {
    /** Returns the time from which applies may start; `undefined` if they may start now. */
    readonly end: Effect.Effect<string | undefined>
  }
>()("svc/actors/running/agent-pool/EarlierLeases") {
  static readonly layer = Layer.effect(
    EarlierLeases,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const begun = { at: yield* monotonicNow, millis: yield* Clock.currentTimeMillis }

      const end = Effect.gen(function* () {
        // Uses the longest lease of all pools, including archived ones, because the backup does not show which pool a missing
        // apply ran in.
        const [longest] = yield* Longest.rows(sql)`SELECT MAX(lease_seconds) AS lease FROM agent_pools`
        if (longest === undefined || longest.lease === null) return undefined
        const whole = applySeconds(longest.lease)
        const passed = (yield* monotonicNow) - begun.at
        // Limits the wait in case the wall clock is wrong.
        if (passed >= seconds(whole)) return undefined
        const [row] = yield* Restored.rows(sql)`SELECT MAX(restored_at) AS restored_at FROM restore_review`
        if (row === undefined || row.restored_at === null) return undefined
        // Uses the wall clock only to subtract the time between the restore and the start of this process.
        const until = Math.min(Date.parse(row.restored_at), begun.millis) + whole * 1000
        return passed < seconds((until - begun.millis) / 1000) ? new Date(until).toISOString() : undefined
      }).pipe(Effect.orDie, Effect.withSpan("EarlierLeases.end"))

      return EarlierLeases.of({ end })
    })
  )
}
