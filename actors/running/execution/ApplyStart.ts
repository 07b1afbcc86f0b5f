import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../base/database/Transaction.ts"
import { type HoldLost, holdLost, type RunHold } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { ApplySettlement } from "./ApplySettlement.ts"
import type { RunBlocked } from "./RunSteps.ts"
import { makeStartObstacle } from "./AutomaticObstacle.ts"

/** The decision about whether the tool of an apply may start. After `refused`, the tool must not start. */
export type StartAnswer = { readonly kind: "started" } | { readonly kind: "refused"; readonly reason: RunBlocked }

/** Decides whether the tool of an apply may start. Checks everything that the decision depends on in one transaction. */
export class ApplyStart extends Context.Service<
  ApplyStart,
  {
    /**
     * Records that an agent may start the tool. If the start is refused, ends the Run, which has changed nothing. A repeated
     * request gets the same response, except after a cancellation: an agent that repeats the request has not started its
     * tool, so svc refuses the start and the agent's report ends the Run.
     */
    readonly record: (hold: RunHold) => Effect.Effect<StartAnswer, HoldLost>
    /**
     * Returns the reason why the control plane must not start the tool. Nothing is recorded here, because claiming the Run
     * already recorded the start.
     */
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
