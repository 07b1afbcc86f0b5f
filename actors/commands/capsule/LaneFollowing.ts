import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type CapsuleId, RunId, type SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { type CommandContext, serviceContext } from "../../../schema/commands/Command.ts"
import type { RunTrigger } from "../../../schema/records/Run.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { derivedId } from "../../base/Identity.ts"
import { followObstacle } from "../../ledger/source/FollowedSource.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import { automationRefusal } from "../../ledger/workspace/StoredWorkspace.ts"
import { decide, type Decided, isPlannedNow } from "./AutoUpdateDecisions.ts"
import { endsWith, isPinned, pinWords, unpinned } from "../../ledger/capsule/AutoUpdatePins.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { type GuardedCapsuleRow, StaleReasonsJson } from "../../ledger/capsule/CapsuleRow.ts"
import { CapsuleRuns } from "./CapsuleRuns.ts"
import type { SnapshotRow } from "../../ledger/source/SourceRow.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"

const skipped = (reason: string, message: string): Decided => ({ decision: "skipped", reason, message })
const waiting = (reason: string, message: string): Decided => ({ decision: "waiting", reason, message })

/** Removes the pin of a rollback, in the caller's transaction, so that the Capsule follows its lane again. */
const unpin = Effect.fn("Capsule.unpin")(function* (
  capsule: GuardedCapsuleRow,
  context: CommandContext,
  data: Readonly<Record<string, string>>
) {
  const capsules = yield* CapsuleLedger
  const audit = yield* Audit
  yield* capsules.annotate(capsule.id, unpinned)
  yield* audit.append({
    workspaceId: capsule.workspace_id,
    actor: context.actor,
    action: "capsule.auto_update_resumed",
    target: { kind: "capsule", id: capsule.id },
    capsuleId: capsule.id,
    data,
    requestId: context.requestId
  })
})

/** Returns the reason why a snapshot of the lane cannot be planned now, or `undefined` if it can be. */
const obstacle = Effect.fnUntraced(function* (
  capsule: GuardedCapsuleRow,
  snapshot: SnapshotRow,
  look: RunTrigger | undefined
) {
  const sql = yield* SqlClient.SqlClient
  const lanes = yield* SourceLanes
  const sources = yield* SourceStore
  const stopped = followObstacle(yield* sources.find(capsule.source_id), look)
  if (stopped !== undefined) return skipped("source_stopped", stopped)
  const lane = yield* lanes.find(capsule.source_id, snapshot)
  if (lane?.resolved_commit !== snapshot.resolved_commit)
    return skipped("lane_moved", `${snapshot.ref} has moved to another commit.`)
  if (snapshot.resolved_commit === capsule.adopted_commit)
    return skipped("already_applied", "This commit is what is applied.")
  // If the Capsule is stale only because of another Capsule's Output, its lane has no newer commit.
  const isBehind = StaleReasonsJson.read(capsule.stale_reasons).some(({ kind }) => kind === "commit")
  const isCurrent = capsule.status === "active" || capsule.status === "stale"
  if (capsule.path_filter === 1 && isCurrent && !isBehind)
    return skipped("untouched", "The commit touches nothing of this module.")
  if (capsule.status !== "stale" || !isBehind)
    return waiting("capsule_not_ready", `The Capsule is ${capsule.status}. Set that right, and the commit is followed.`)
  if (isPinned(capsule)) {
    if (!endsWith(capsule, snapshot.resolved_commit)) return skipped("pinned", pinWords(capsule))
    yield* unpin(capsule, serviceContext, { resolvedCommit: snapshot.resolved_commit })
  }
  const refusal = yield* automationRefusal(capsule.workspace_id)
  if (refusal !== undefined)
    return {
      decision: "deferred",
      reason: "automation_paused",
      message: `Not planned yet: ${refusal}.`
    } satisfies Decided
  const planned = yield* Effect.orDie(RunRow.some(sql, "id")`SELECT id FROM runs WHERE capsule_id = ${capsule.id}
    AND type = 'plan' AND trigger_kind = 'auto_update' AND resolved_commit = ${snapshot.resolved_commit}
    AND execution_authority_epoch = ${capsule.execution_authority_epoch}
    AND base_state_generation = ${capsule.current_state_generation} LIMIT 1`)
  return planned[0] === undefined
    ? undefined
    : skipped(
        "planned_before",
        `The Run ${planned[0].id} has planned this commit already. Plan it by hand to see it again.`
      )
})

/**
 * Plans a newer commit of the adopted lane for a Capsule that has opted in, and records the decision. A commit is planned
 * only once per authority: the lane is synced repeatedly, and a cancelled plan must not be created again.
 */
export const followLane = Effect.fn("Capsule.followLane")(function* (
  capsuleId: CapsuleId,
  snapshotId: SourceSnapshotId,
  look: RunTrigger | undefined
) {
  const capsules = yield* CapsuleLedger
  const sources = yield* SourceStore
  const runs = yield* CapsuleRuns
  const audit = yield* Audit
  const capsule = yield* capsules.find(capsuleId)
  const row = yield* sources.findSnapshot(snapshotId)
  if (capsule === undefined || row === undefined) return
  const snapshot = { id: snapshotId, resolvedCommit: row.resolved_commit }
  const deferred = (to: string | null) =>
    capsule.deferred_snapshot_id === to ? Effect.void : capsules.annotate(capsuleId, { deferred_snapshot_id: to })
  const isOfLane = capsule.adopted_ref === row.ref && capsule.adopted_path === row.path
  if (capsule.auto_update_enabled !== 1 || isEnded(capsule.status) || !isOfLane) return yield* deferred(null)
  if (yield* isPlannedNow(capsule, snapshotId)) return yield* deferred(null)
  const refused = yield* obstacle(capsule, row, look)
  if (refused !== undefined) {
    yield* decide(capsule, snapshot, refused)
    return yield* deferred(refused.decision === "deferred" ? snapshotId : null)
  }
  const authority = `${capsule.execution_authority_epoch} ${capsule.current_state_generation}`
  const runId = derivedId(RunId, "run", capsuleId, `follow ${snapshotId} ${authority}`)
  yield* refuseArchived(capsule.workspace_id).pipe(
    Effect.andThen(
      runs.create(capsule, { runId, type: "plan", sourceSnapshotId: snapshotId, trigger: "auto_update", look })
    ),
    Effect.matchEffect({
      onSuccess: () =>
        Effect.andThen(
          decide(capsule, snapshot, { decision: "taken", reason: "planned", message: "A plan was made.", runId }),
          deferred(null)
        ),
      onFailure: Effect.fnUntraced(function* (error) {
        if (error._tag !== "ApiError" || error.code !== "rate_limited") {
          yield* decide(capsule, snapshot, waiting("refused", error.message))
          return yield* deferred(null)
        }
        yield* decide(capsule, snapshot, {
          decision: "deferred",
          reason: "queue_full",
          message: "Planned when the queue of the Workspace has room."
        })
        yield* deferred(snapshotId)
        if (capsule.deferred_snapshot_id !== null) return
        yield* Effect.logWarning(`A followed commit is planned later. ${error.message}`)
        yield* audit.append({
          workspaceId: capsule.workspace_id,
          actor: serviceContext.actor,
          action: "capsule.auto_update_deferred",
          target: { kind: "capsule", id: capsuleId },
          capsuleId,
          data: { sourceSnapshotId: snapshotId, resolvedCommit: row.resolved_commit }
        })
      })
    })
  )
})

/** Decides about the newest snapshot of the lane, and records in the same transaction that the decision is no longer due. */
export const followDue = Effect.fn("Capsule.followDue")(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  yield* Effect.gen(function* () {
    const capsule = yield* capsules.find(capsuleId)
    if (capsule?.follow_snapshot_id == null) return
    yield* capsules.followed(capsuleId)
    yield* followLane(capsuleId, capsule.follow_snapshot_id, capsule.follow_look ?? undefined)
  }).pipe(transaction(sql))
})

/** Decides about a snapshot that was deferred because the queue was full or automation was paused. */
export const followDeferred = Effect.fn("Capsule.followDeferred")(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const sources = yield* SourceStore
  yield* Effect.gen(function* () {
    const capsule = yield* capsules.find(capsuleId)
    if (capsule?.deferred_snapshot_id == null) return
    // With autoSync, drops the deferred snapshot if the Source has stopped following its repository. Without autoSync, a
    // person started the check, so the snapshot remains valid.
    const source = yield* sources.find(capsule.source_id)
    const look = source?.auto_sync === 1 ? "schedule" : "user"
    yield* followLane(capsuleId, capsule.deferred_snapshot_id, look)
  }).pipe(transaction(sql))
})

/** Decides about the lane's current snapshot. Runs in the caller's transaction. */
export const followStanding = Effect.fn("Capsule.followStanding")(function* (capsule: GuardedCapsuleRow) {
  const lanes = yield* SourceLanes
  const lane = yield* lanes.find(capsule.source_id, {
    ref: capsule.adopted_ref ?? capsule.tracked_ref,
    path: capsule.adopted_path ?? capsule.tracked_path
  })
  if (lane?.source_snapshot_id != null) yield* followLane(capsule.id, lane.source_snapshot_id, "user")
})

/**
 * Called in the caller's transaction when a person removes a rollback's pin. Immediately decides what to do with the lane's
 * current snapshot.
 */
export const resumeFollowing = Effect.fn("Capsule.resumeFollowing")(function* (
  capsule: GuardedCapsuleRow,
  context: CommandContext
) {
  yield* unpin(capsule, context, {})
  yield* followStanding(capsule)
})
