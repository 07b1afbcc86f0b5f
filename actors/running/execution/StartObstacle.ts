import { Effect } from "effect"
import { Approvals } from "../../access/approval/Approvals.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { makeCapsuleObstacle } from "./CapsuleObstacle.ts"
import { makeAutomaticObstacle } from "./AutomaticObstacle.ts"
import { approvedPlan } from "./ReviewedPlanProblem.ts"
import { blocked, type RunBlocked } from "./RunSteps.ts"

/** The apply's approval no longer meets the rules. */
export const lapsed = (reason: string) => `Nothing was applied. ${reason} Plan again.`

/**
 * The reason why the tool of an apply must not be started now, read in the caller's transaction; `undefined` without a reason.
 * The preparation has checked the same, but records may have changed while files were fetched and processes were set up.
 */
export const makeStartObstacle = Effect.gen(function* () {
  const ledger = yield* RunLedger
  const capsules = yield* CapsuleLedger
  const approvals = yield* Approvals
  const capsuleObstacle = yield* makeCapsuleObstacle
  const automaticObstacle = yield* makeAutomaticObstacle

  return Effect.fn("Run.startObstacle")(function* (run: RunRow): Effect.fn.Return<RunBlocked | undefined> {
    if (run.cancel_requested_at !== null) {
      return blocked("cancelled", "The Run was asked to stop before its tool was started; nothing was changed.")
    }
    const capsule = yield* capsules.find(run.capsule_id)
    if (capsule === undefined) return yield* Effect.die(new Error(`The Capsule of Run ${run.id} is gone`))
    const obstacle = (yield* capsuleObstacle(run, capsule)) ?? (yield* automaticObstacle(run, capsule))
    if (obstacle !== undefined) return obstacle
    const plan = approvedPlan(run.id, yield* ledger.find(run.plan_run_id))
    if (plan._tag === "Failure") return blocked(plan.failure.code, plan.failure.message)
    const unapproved = yield* approvals.obstacle(plan.success)
    return unapproved === undefined ? undefined : blocked("approval_lapsed", lapsed(unapproved))
  })
})
