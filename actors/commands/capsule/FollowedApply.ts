import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { RunId } from "../../../schema/records/Ids.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import type { PlanSummary } from "../../../schema/records/PlanDetails.ts"
import { Approvals } from "../../access/approval/Approvals.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { derivedId } from "../../base/Identity.ts"
import { RunHandover } from "../../running/execution/RunHandover.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { type RunRow, toRun } from "../../ledger/run/RunRow.ts"
import { followObstacle, lookOf } from "../../ledger/source/FollowedSource.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { appliesCarried } from "../../running/carry-over/CarryOverDecision.ts"
import { automationRefusal } from "../../ledger/workspace/StoredWorkspace.ts"
import { decide, type Decided } from "./AutoUpdateDecisions.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { CapsuleRuns } from "./CapsuleRuns.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { type FollowedPlan, personNeeded } from "./FollowedPlanDecision.ts"

const followedPlan = Effect.fnUntraced(function* (
  capsule: GuardedCapsuleRow,
  plan: RunRow,
  summary: PlanSummary | undefined
): Effect.fn.Return<FollowedPlan, never, SourceLanes | SourceStore | SqlClient.SqlClient | StateVersions> {
  const version = yield* (yield* StateVersions).find(capsule.current_state_version_id)
  const lane = yield* (yield* SourceLanes).find(capsule.source_id, {
    ref: capsule.adopted_ref ?? "",
    path: capsule.adopted_path ?? ""
  })
  return {
    capsule,
    plan,
    summary,
    // Ignores an adopted state, because it does not prove that any configuration has been applied.
    appliedConfigId: version?.state_upload_id === null ? version.install_config_id : undefined,
    laneCommit: lane?.resolved_commit,
    sourceStopped: followObstacle(yield* (yield* SourceStore).find(capsule.source_id), lookOf(plan)),
    automationRefusal: yield* automationRefusal(capsule.workspace_id)
  }
})

/** Applies a plan that is covered by approvals of the same change, if the rules still let svc apply it. */
const applyCarried = Effect.fn("Capsule.applyCarriedPlan")(
  function* (plan: RunRow, capsule: GuardedCapsuleRow) {
    const runs = yield* CapsuleRuns
    const audit = yield* Audit
    const { carriedFrom, isolation, network } = toRun(plan)
    if (carriedFrom?.applies !== true || plan.used_by_run_id !== null || plan.approved_by === null) return
    const { rules } = yield* (yield* Approvals).of(plan)
    if (!appliesCarried(rules.map(({ carry_over }) => carry_over))) return
    const refusal = yield* automationRefusal(capsule.workspace_id)
    if (refusal !== undefined) return yield* Effect.logInfo(`A carried-over plan was not applied: ${refusal}.`)
    const runId = derivedId(RunId, "run", plan.id, "apply")
    // Uses the Connections with the authority of the person whose approval completed the review.
    yield* runs.createApply(capsule, { runId, planRunId: plan.id, createdBy: plan.approved_by, trigger: "service" })
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: serviceContext.actor,
      action: "capsule.auto_apply",
      target: { kind: "capsule", id: capsule.id },
      capsuleId: capsule.id,
      runId,
      data: {
        planRunId: plan.id,
        planDigest: plan.plan_digest,
        isolation: isolation ?? null,
        network: network ?? null,
        carriedFromRunId: carriedFrom.runId
      }
    })
  },
  (effect) =>
    // Another apply is in progress, or something has changed, so the plan waits until a person applies it.
    Effect.catch(effect, (error) => Effect.logInfo(`A carried-over plan was not applied: ${error.message}`))
)

/**
 * Applies an automatic plan if the Capsule's owner has opted in. The opt-in covers commits in the lane only: a person must still
 * apply a plan that destroys or replaces something, and a configuration that has never been applied. The usual approval rules
 * apply; svc approves only if a rule lists automation.
 */
const applyPlan = Effect.fn("Capsule.applyFollowedPlan")(function* (planRunId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const runs = yield* CapsuleRuns
  const ledger = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const audit = yield* Audit
  const approvals = yield* Approvals
  const plan = yield* ledger.find(planRunId)
  const capsule = yield* capsules.find(plan?.capsule_id ?? null)
  if (plan === undefined || capsule === undefined) return
  if (plan.status === "succeeded") return yield* applyCarried(plan, capsule)
  if (plan.status !== "waiting_approval") return
  if (plan.source_snapshot_id === null) return
  const snapshot = { id: plan.source_snapshot_id, resolvedCommit: plan.resolved_commit ?? "" }
  const decided = (decision: Decided) => decide(capsule, snapshot, decision)
  const { isolation, network, planSummary } = toRun(plan)
  const needed = personNeeded(yield* followedPlan(capsule, plan, planSummary))
  if (needed !== undefined) {
    const [reason, message] = needed
    return yield* decided({ decision: "waiting", reason, message, runId: planRunId })
  }
  const runId = derivedId(RunId, "run", planRunId, "apply")
  yield* Effect.gen(function* () {
    const given = yield* Effect.result(approvals.give(plan, { approver: "service" }))
    if (Result.isFailure(given) || !given.success.isApproved) {
      const message = (yield* approvals.obstacle(plan)) ?? "The plan waits for an approval."
      return yield* decided({ decision: "waiting", reason: "approval", message, runId: planRunId })
    }
    yield* lifecycle.approve(plan, { data: { planDigest: plan.plan_digest, automatic: true } })
    yield* runs.createApply(capsule, { runId, planRunId, createdBy: undefined, trigger: "auto_update" })
    yield* decided({
      decision: "taken",
      reason: "applied",
      message: "The plan was approved and its apply started.",
      runId
    })
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: serviceContext.actor,
      action: "capsule.auto_apply",
      target: { kind: "capsule", id: capsule.id },
      capsuleId: capsule.id,
      runId,
      data: { planRunId, planDigest: plan.plan_digest, isolation: isolation ?? null, network: network ?? null }
    })
  }).pipe(
    transaction(sql),
    // Another apply is in progress, so this plan waits for review.
    Effect.catch((error) =>
      Effect.andThen(
        Effect.logInfo(`A followed plan was not applied: ${error.message}`),
        decided({ decision: "waiting", reason: "refused", message: error.message, runId: planRunId })
      )
    )
  )
})

/** Handles a finished auto-update plan, and marks it as handled in the same transaction. */
export const applyFollowed = Effect.fn("Capsule.applyFollowed")(function* (planRunId: RunId) {
  const sql = yield* SqlClient.SqlClient
  yield* (yield* RunHandover).followed(planRunId).pipe(Effect.andThen(applyPlan(planRunId)), transaction(sql))
})
