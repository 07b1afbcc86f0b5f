import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { scheduledCheckRefusal } from "../../ledger/capsule/ScheduledChecks.ts"
import { isUnasked, pullRequestSpecOf, ruleObstacle } from "../../ledger/run/PullRequestPlan.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { followObstacle, lookOf } from "../../ledger/source/FollowedSource.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { automationRefusal } from "../../ledger/workspace/StoredWorkspace.ts"
import { blocked, type RunBlocked } from "./RunSteps.ts"
import { Approvals } from "../../access/approval/Approvals.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { makeCapsuleObstacle } from "./CapsuleObstacle.ts"
import { approvedPlan } from "./ReviewedPlanProblem.ts"

/**
 * Returns the reason why an automatic Run must not run: its automation may have been disabled while the Run was queued or
 * being prepared. Returns `undefined` if the Run may run, or if a person started it. Runs in the caller's transaction.
 */
export const makeAutomaticObstacle = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const sources = yield* SourceStore

  const unwantedFollow = Effect.fnUntraced(function* (
    run: RunRow,
    capsule: Pick<CapsuleRow, "auto_update_apply" | "auto_update_enabled">
  ) {
    if (capsule.auto_update_enabled !== 1) return "Auto-update of the Capsule is off."
    if (run.plan_run_id !== null && capsule.auto_update_apply !== 1) {
      return "Auto-update of the Capsule no longer applies its plans."
    }
    const plan = run.plan_run_id === null ? run : yield* ledger.find(run.plan_run_id)
    return followObstacle(yield* sources.find(run.source_id), plan === undefined ? undefined : lookOf(plan))
  })

  const unwantedCheck = ({ capsule_id: id }: RunRow) =>
    Effect.provideService(scheduledCheckRefusal(id), SqlClient.SqlClient, sql)

  return Effect.fnUntraced(function* (
    run: RunRow,
    capsule: Pick<CapsuleRow, "auto_update_apply" | "auto_update_enabled">
  ): Effect.fn.Return<RunBlocked | undefined> {
    const pull = isUnasked(run) ? pullRequestSpecOf(run) : undefined
    if (pull !== undefined) {
      const reason = ruleObstacle(pull, yield* sources.find(run.source_id))
      return reason === undefined ? undefined : blocked("cancelled", `Nothing was started. ${reason}`)
    }
    const isFollow = run.trigger_kind === "auto_update"
    const isCheck = run.trigger_kind === "schedule" && run.type === "drift_check"
    if (!isFollow && !isCheck) return undefined
    const unwanted = isFollow ? yield* unwantedFollow(run, capsule) : yield* unwantedCheck(run)
    const nothing = run.plan_run_id === null ? "Nothing was started" : "Nothing was applied"
    if (unwanted !== undefined) return blocked("cancelled", `${nothing}. ${unwanted}`)
    // A pause only stops Runs that change something. A plan that was queued before the pause still runs and then waits for a
    // person.
    if (run.plan_run_id === null) return undefined
    const paused = yield* Effect.provideService(automationRefusal(run.workspace_id), SqlClient.SqlClient, sql)
    return paused === undefined
      ? undefined
      : blocked("cancelled", `${nothing}: ${paused}. Plan again once it is resumed.`)
  })
})

/** The message if an apply's approvals no longer satisfy the rules. */
export const lapsed = (reason: string) => `Nothing was applied. ${reason} Plan again.`

/**
 * Returns the reason why the tool of an apply must not start, or `undefined` if it may start. Reads in the caller's
 * transaction. Repeats the checks of the preparation, because the records may have changed while the preparation fetched
 * files and set up processes.
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
