import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { preemptedReason } from "../../ledger/run/RunCancels.ts"
import { RunHandover } from "./RunHandover.ts"
import { holdLost, type RunHold, type StopRequested } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { cancelRun } from "./RunEnding.ts"

/** The time after which a scheduled check is repeated that was stopped in favour of another Run. */
const afterPreemption: Duration.Input = "15 minutes"

/**
 * True if a stopped check is repeated soon: a scheduled check that was stopped in favour of another Run does not wait for its
 * whole interval.
 */
export const isMadeAgain = ({ cancel_reason, trigger_kind }: Pick<RunRow, "cancel_reason" | "trigger_kind">) =>
  trigger_kind === "schedule" && cancel_reason === preemptedReason

/** A check that was stopped in favour of another Run is due again soon; in the caller's transaction. */
export const scheduleAgain = Effect.fnUntraced(function* (
  capsules: Pick<CapsuleLedger["Service"], "schedule">,
  run: Pick<RunRow, "cancel_reason" | "capsule_id" | "trigger_kind">
) {
  if (run.capsule_id === null || !isMadeAgain(run)) return
  const at = (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(afterPreemption))
  yield* capsules.schedule(run.capsule_id, new Date(at).toISOString())
})

/** Ends Runs with a stop request before their result was committed. */
export const makeRunStop = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const capsules = yield* CapsuleLedger
  const lifecycle = yield* RunLifecycle
  const ending = { lifecycle, handover: yield* RunHandover }

  const held = Effect.fnUntraced(function* (hold: RunHold) {
    return (yield* ledger.held(hold)) ?? (yield* holdLost(hold))
  })

  return {
    /** Follows the rollback of a settlement, in a transaction that contains nothing but the cancellation. */
    stopped: Effect.fn("Run.stopped")(function* ({ evidence, hold }: StopRequested) {
      const run = yield* held(hold)
      yield* cancelRun(ending, run, evidence)
      yield* scheduleAgain(capsules, run)
    }, transaction(sql)),
    /** Returns a Run that changed nothing to the queue, or ends it if a stop was requested; in the caller's transaction. */
    requeued: Effect.fnUntraced(function* (hold: RunHold, reason: string, options: { readonly counts: boolean }) {
      const run = yield* held(hold)
      if (run.cancel_requested_at === null) return yield* lifecycle.requeue(hold, reason, options)
      yield* cancelRun(ending, run)
      yield* scheduleAgain(capsules, run)
    })
  }
})
