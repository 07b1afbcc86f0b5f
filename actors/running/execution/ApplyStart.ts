import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../base/database/Transaction.ts"
import { type HoldLost, holdLost, type RunHold } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { ApplySettlement } from "./ApplySettlement.ts"
import type { RunBlocked } from "./RunSteps.ts"
import { makeStartObstacle } from "./AutomaticObstacle.ts"

/** The answer to a request to start the tool of an apply. `refused`: the tool must not start. */
export type StartAnswer = { readonly kind: "started" } | { readonly kind: "refused"; readonly reason: RunBlocked }

/** Permits the tool of an apply to start. The permission and everything it depends on are one transaction. */
export class ApplyStart extends Context.Service<
  ApplyStart,
  {
    /**
     * Records durably that an agent may start the tool, or refuses and ends the Run, in which nothing was changed. A repeated
     * request is answered like the first, except after a cancellation: an agent that still requests the start has not started its
     * tool. Its report ends the Run in that case.
     */
    readonly record: (hold: RunHold) => Effect.Effect<StartAnswer, HoldLost>
    /** The reason why the control plane itself must not start the tool; the claim of the Run has recorded the start. */
    readonly obstacle: (runId: RunRow["id"]) => Effect.Effect<RunBlocked | undefined>
  }
>()("svc/actors/running/execution/ApplyStart") {
  static readonly layer = Layer.effect(
    ApplyStart,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const settlement = yield* ApplySettlement
      const startObstacle = yield* makeStartObstacle

      const record = Effect.fn("Run.recordStart")(function* (hold: RunHold): Effect.fn.Return<StartAnswer, HoldLost> {
        const run = yield* ledger.held(hold)
        if (run === undefined) return yield* holdLost(hold)
        const reason = yield* startObstacle(run)
        if (run.start_acknowledged_at !== null) {
          return reason?.code === "cancelled" ? { kind: "refused", reason } : { kind: "started" }
        }
        if (reason === undefined) {
          yield* ledger.acknowledgeStart(hold)
          return { kind: "started" }
        }
        yield* settlement.refuse(hold, reason)
        return { kind: "refused", reason }
      }, transaction(sql))

      const obstacle = Effect.fn("Run.startObstacle")(function* (runId: RunRow["id"]) {
        const run = yield* ledger.find(runId)
        return run === undefined ? undefined : yield* startObstacle(run)
      }, transaction(sql))

      return ApplyStart.of({ record, obstacle })
    })
  )
}
