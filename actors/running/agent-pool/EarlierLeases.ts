import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { rowShape } from "../../base/database/Table.ts"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"

/**
 * The time that an agent may execute an apply without contact to the server. By the agent's clock, its tool is dead before its
 * lease expires; the server waits a minute longer, plus one percent for clocks that run at different rates.
 */
export const applySeconds = (leaseSeconds: number): number => leaseSeconds * 1.01 + 60

const Longest = rowShape({ lease: Schema.NullOr(Schema.Int) })
const Restored = rowShape({ restored_at: Schema.NullOr(Timestamp) })

/**
 * Determines the time that applies must wait after a restore. An agent may still be executing an apply that the backup does not
 * contain, and two tools must never work on one Capsule, even if the second tool runs in another pool or on the control plane.
 */
export class EarlierLeases extends Context.Service<
  EarlierLeases,
  {
    /** `undefined` once that time has passed, or without a pool. */
    readonly end: Effect.Effect<string | undefined>
  }
>()("svc/actors/running/agent-pool/EarlierLeases") {
  static readonly layer = Layer.effect(
    EarlierLeases,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const begun = { at: yield* monotonicNow, millis: yield* Clock.currentTimeMillis }

      const end = Effect.gen(function* () {
        // The pool of an apply that is missing from the backup is unknown, so it could be any pool, archived or not.
        const [longest] = yield* Longest.rows(sql)`SELECT MAX(lease_seconds) AS lease FROM agent_pools`
        if (longest === undefined || longest.lease === null) return undefined
        const whole = applySeconds(longest.lease)
        const passed = (yield* monotonicNow) - begun.at
        // However wrong the wall clock is, a process never waits longer than this.
        if (passed >= seconds(whole)) return undefined
        const [row] = yield* Restored.rows(sql)`SELECT MAX(restored_at) AS restored_at FROM restore_review`
        if (row === undefined || row.restored_at === null) return undefined
        // The wall clock only determines how much of the wait had already passed when the process started.
        const until = Math.min(Date.parse(row.restored_at), begun.millis) + whole * 1000
        return passed < seconds((until - begun.millis) / 1000) ? new Date(until).toISOString() : undefined
      }).pipe(Effect.orDie, Effect.withSpan("EarlierLeases.end"))

      return EarlierLeases.of({ end })
    })
  )
}
