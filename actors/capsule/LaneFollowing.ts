import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RunId } from "../../schema/records/Ids.ts"
import { serviceContext } from "../../schema/protocol/Command.ts"
import { Audit } from "../audit/Audit.ts"
import { transaction } from "../database/Transaction.ts"
import { derivedId, now } from "../Identity.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { toRun } from "../run/RunRow.ts"
import { SourceStore } from "../source/SourceStore.ts"
import { refuseArchived } from "../workspace/ArchivedWorkspace.ts"
import { CapsuleLedger } from "./CapsuleLedger.ts"
import { decodeStaleReasons } from "./CapsuleRow.ts"
import { CapsuleRuns } from "./CapsuleRuns.ts"
import { StateVersions } from "./StateVersions.ts"

/**
 * Plans a newer commit of the adopted lane for a Capsule that opted in. One commit is planned once under one authority:
 * a lane is synced again and again, and what a person cancelled does not come back by itself.
 */
export const followLane = Effect.fn("Capsule.followLane")(function* (capsuleId: string, snapshotId: string) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const sources = yield* SourceStore
  const runs = yield* CapsuleRuns
  const audit = yield* Audit
  const capsule = yield* capsules.find(capsuleId)
  const snapshot = yield* sources.findSnapshot(snapshotId)
  if (capsule === undefined || snapshot === undefined) return
  const deferred = (to: string | null) =>
    capsule.deferred_snapshot_id === to ? Effect.void : capsules.annotate(capsuleId, { deferred_snapshot_id: to })
  // It may be stale for another Capsule's Output alone: there is nothing of the lane to follow then.
  const isBehind = decodeStaleReasons(capsule.stale_reasons).some(({ kind }) => kind === "commit")
  if (capsule.auto_update_enabled !== 1 || capsule.status !== "stale" || !isBehind) return yield* deferred(null)
  const planned = yield* Effect.orDie(sql`SELECT id FROM runs WHERE capsule_id = ${capsuleId} AND type = 'plan'
    AND trigger_kind = 'auto_update' AND resolved_commit = ${snapshot.resolved_commit}
    AND execution_authority_epoch = ${capsule.execution_authority_epoch}
    AND base_state_generation = ${capsule.current_state_generation} LIMIT 1`)
  if (planned.length > 0) return yield* deferred(null)
  const runId = derivedId(RunId, "run", capsuleId, `follow ${snapshotId}`)
  yield* refuseArchived(capsule.workspace_id).pipe(
    Effect.andThen(runs.create(capsule, { runId, type: "plan", sourceSnapshotId: snapshotId, trigger: "auto_update" })),
    Effect.matchEffect({
      onSuccess: () => deferred(null),
      onFailure: Effect.fnUntraced(function* (error) {
        if (error._tag !== "ApiError" || error.code !== "rate_limited") return yield* deferred(null)
        yield* deferred(snapshotId)
        if (capsule.deferred_snapshot_id !== null) return
        yield* Effect.logWarning(`A followed commit is planned later. ${error.message}`)
        yield* audit.append({
          workspaceId: capsule.workspace_id,
          actor: serviceContext.actor,
          action: "capsule.auto_update_deferred",
          target: { kind: "capsule", id: capsuleId },
          capsuleId,
          data: { sourceSnapshotId: snapshotId, resolvedCommit: snapshot.resolved_commit }
        })
      })
    })
  )
})

/** The same for a snapshot whose plan met a full queue. */
export const followDeferred = Effect.fn("Capsule.followDeferred")(function* (capsuleId: string) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  yield* Effect.gen(function* () {
    const capsule = yield* capsules.find(capsuleId)
    if (capsule?.deferred_snapshot_id == null) return
    yield* followLane(capsuleId, capsule.deferred_snapshot_id)
  }).pipe(transaction(sql))
})

/**
 * Applies a plan that the Capsule made by itself, where its owner opted in: to commits of the lane. What would destroy or
 * replace something waits for a person all the same, and so does a configuration that nobody has applied yet.
 */
export const applyFollowed = Effect.fn("Capsule.applyFollowed")(function* (planRunId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const runs = yield* CapsuleRuns
  const ledger = yield* RunLedger
  const audit = yield* Audit
  const states = yield* StateVersions
  const plan = yield* ledger.find(planRunId)
  const capsule = yield* capsules.find(plan?.capsule_id ?? "")
  if (plan === undefined || capsule === undefined || plan.status !== "waiting_approval") return
  if (capsule.auto_update_enabled !== 1 || capsule.auto_update_apply !== 1) return
  const { isolation, network, planSummary } = toRun(plan)
  if (planSummary === undefined || planSummary.destroy + planSummary.replace + planSummary.forget > 0) return
  const version = yield* states.find(capsule.current_state_version_id ?? "")
  if (version?.install_config_id !== plan.install_config_id) return
  const runId = derivedId(RunId, "run", planRunId, "apply")
  yield* Effect.gen(function* () {
    // No request, so no route has asked: nothing is applied in a Workspace that was put away.
    yield* refuseArchived(capsule.workspace_id)
    yield* ledger.set(planRunId, { approved_at: yield* now })
    yield* ledger.move(planRunId, {
      from: ["waiting_approval"],
      to: "succeeded",
      event: "run.approved",
      data: { planDigest: plan.plan_digest, automatic: true }
    })
    yield* runs.createApply(capsule, { runId, planRunId, createdBy: undefined, trigger: "auto_update" })
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
    // Somebody else's apply is under way: this plan stays for review.
    Effect.catch((error) => Effect.logInfo(`A followed plan was not applied: ${error.message}`))
  )
})
