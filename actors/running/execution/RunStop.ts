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

/** Delay before a scheduled check is retried after it was stopped for another Run. */
const afterPreemption: Duration.Input = "15 minutes"

/**
 * Returns true if a stopped check should be retried soon. If a scheduled check was stopped for another Run, it does not wait
 * for a full interval.
 */
export const isMadeAgain = ({ cancel_reason, trigger_kind }: Pick<RunRow, "cancel_reason" | "trigger_kind">) =>
  trigger_kind === "schedule" && cancel_reason === preemptedReason

/** Schedules an early retry of the check if it was stopped for another Run. Runs in the caller's transaction. */
export const scheduleAgain = Effect.fnUntraced(function* (
  capsules: Pick<CapsuleLedger["Service"], "schedule">,
  run: Pick<RunRow, "cancel_reason" | "capsule_id" | "trigger_kind">
) {
  if (run.capsule_id === null || !isMadeAgain(run)) return
  const at = (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(afterPreemption))
  yield* capsules.schedule(run.capsule_id, new Date(at).toISOString())
})

/** Ends Runs that were asked to stop before their result was committed. */
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
    /** Called after a settlement was rolled back. Records the cancellation, and nothing else, in a new transaction. */
    stopped: Effect.fn("Run.stopped")(function* ({ evidence, hold }: StopRequested) {
      const run = yield* held(hold)
      yield* cancelRun(ending, run, evidence)
      yield* scheduleAgain(capsules, run)
    }, transaction(sql)),
    /** Requeues a Run that changed nothing, or ends it if a stop was requested. Runs in the caller's transaction. */
    requeued: Effect.fnUntraced(function* (hold: RunHold, reason: string, options: { readonly counts: boolean }) {
      const run = yield* held(hold)
      if (run.cancel_requested_at === null) return yield* lifecycle.requeue(hold, reason, options)
      yield* cancelRun(ending, run)
      yield* scheduleAgain(capsules, run)
    })
  }
})
