import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ImportConfirmationRequest } from "../../../schema/api/BackupImportsApi.ts"
import type { CapsuleReleased, ReleaseRequest } from "../../../schema/api/CapsuleReleased.ts"
import { type ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { serve } from "../../Actor.ts"
import { CapsuleRow, type GuardedCapsuleRow, isUnconfirmed, toCapsule } from "../../ledger/capsule/CapsuleRow.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { DueWork } from "../../base/DueWork.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { acceptsDrift } from "../../ledger/run/RunRow.ts"
import { configurationPlan } from "./ConfigurationPlan.ts"
import { applyFollowed } from "./FollowedApply.ts"
import { adoptOrphanedState, discardOrphanedState } from "./OrphanedStateAdoption.ts"
import { followDeferred, followDue } from "./LaneFollowing.ts"
import { removeCapsule, updateCapsule } from "./LifecycleCommands.ts"
import { applyPlan, createRun, rollbackPlan } from "./PlanCommands.ts"
import { reAdopt } from "./ReAdoption.ts"
import { cancelSpeculative, planSpeculatively } from "./SpeculativePlans.ts"
import { CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Deliveries } from "../../inputs/delivery/Deliveries.ts"
import { refuseConflictingRun } from "../../ledger/capsule/ConflictingRuns.ts"
import { ConfigSuccession, guardMoved } from "../../ledger/configuration/ConfigSuccession.ts"
import { endProducer } from "../../ledger/dependency/EndedProducer.ts"
import { InterfaceLedger } from "../../ledger/interface/InterfaceLedger.ts"
import { InterfaceSettlement } from "../../ledger/interface/InterfaceSettlement.ts"
import { endShares } from "../../ledger/output-share/OutputShareRow.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { StaleReasons } from "../../ledger/staleness/StaleReasons.ts"

/**
 * Finished auto-update plans that the Capsule actor has not handled yet. Excludes Runs with a coordinator, because the
 * coordinator handles their plans.
 */
const FollowedPlan = rowShape({ id: RunId, capsule_id: CapsuleId, workspace_id: WorkspaceId })

const load = Effect.fnUntraced(function* (id: CapsuleId) {
  const row = yield* (yield* CapsuleLedger).find(id)
  return row === undefined ? yield* notFound("Capsule") : row
})

/** Fails while work on the Capsule is in progress, because a Run that settles after the release would change the Capsule. */
const refuseMoving = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow) {
  yield* refuseConflictingRun(capsule.id)
  yield* (yield* ConfigSuccession).noRevision(capsule)
})

/**
 * Releases a Capsule permanently without destroying infrastructure. Its state, Runs and history remain. All other records
 * that belong to the Capsule are ended in the same transaction.
 */
const releaseCapsule = Effect.fnUntraced(function* (
  load: Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>,
  context: CommandContext,
  { comment, confirm, reason }: ReleaseRequest
) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const ledger = yield* RunLedger
  const audit = yield* Audit
  const deliveries = yield* Deliveries
  const interfaces = yield* InterfaceSettlement
  const staleReasons = yield* StaleReasons
  const interfaceLedger = yield* InterfaceLedger
  const lanes = yield* SourceLanes
  return yield* Effect.gen(function* () {
    const capsule = yield* load
    if (confirm !== capsule.name) {
      return yield* invalidRequest("confirm: expected the name of the Capsule, exactly as it is written.")
    }
    if (isEnded(capsule.status)) return yield* failedPrecondition(`The Capsule is ${capsule.status} already.`)
    if (capsule.current_state_version_id === null && capsule.runtime_safety === "safe") {
      return yield* failedPrecondition(
        "The Capsule was never applied, so there is nothing to release. Remove it with DELETE."
      )
    }
    yield* refuseMoving(capsule)
    const released = yield* capsules.fence(capsule, {
      status: "released",
      execution_authority_epoch: capsule.execution_authority_epoch + 1,
      auto_update_enabled: 0,
      auto_update_apply: 0,
      deferred_snapshot_id: null,
      credential_wait: null,
      drift_status: "unknown",
      public_endpoint: null,
      released_at: yield* now,
      released_by: context.actor.subject ?? null,
      release_reason: reason,
      release_comment: comment ?? null
    })
    if (!released) return yield* guardMoved()
    yield* ledger.supersedePlans(capsule.id, "The Capsule was released.")
    const present = yield* interfaceLedger.ofCapsule(capsule.id)
    const retiredInterfaceIds = present.filter(({ status }) => status !== "retired").map(({ id }) => id)
    yield* staleReasons.destroyed(capsule.id)
    // Recomputes the Source's status without the errors of a lane that no Capsule uses any more.
    yield* lanes.settleStatus(capsule.source_id)
    yield* interfaces.destroyed(capsule.id)
    yield* deliveries.released(capsule.id)
    // Called before the shares end, so that the release is recorded as the reason why a plan lost its input.
    const consumers = yield* endProducer(context, capsule, reason)
    const revokedShareIds = yield* endShares(context, capsule.id)
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "capsule.release",
      target: { kind: "capsule", id: capsule.id },
      capsuleId: capsule.id,
      data: {
        reason,
        ...(comment === undefined ? {} : { comment }),
        stateVersionId: capsule.current_state_version_id,
        runtimeSafety: capsule.runtime_safety,
        retiredInterfaceIds,
        revokedShareIds,
        ...consumers
      },
      requestId: context.requestId
    })
    return {
      capsule: yield* toCapsule(yield* load),
      retiredInterfaceIds,
      revokedShareIds,
      ...consumers
    } satisfies CapsuleReleased
  }).pipe(transaction(sql))
})

/** Enables an imported Capsule after an owner confirms that the original installation no longer manages it. */
const confirmImport = Effect.fnUntraced(function* (
  load: Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>,
  context: CommandContext,
  { confirm }: ImportConfirmationRequest
) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const audit = yield* Audit
  const killPoint = yield* KillPoint
  return yield* Effect.gen(function* () {
    const capsule = yield* load
    if (confirm !== capsule.name) {
      return yield* invalidRequest("confirm: expected the name of the Capsule, exactly as it is written.")
    }
    if (isEnded(capsule.status)) return yield* failedPrecondition(`The Capsule is ${capsule.status}.`)
    if (!isUnconfirmed(capsule)) {
      return yield* failedPrecondition("The Capsule was not imported, or its import is confirmed already.")
    }
    const execution_authority_epoch = capsule.execution_authority_epoch + 1
    const confirmed = yield* capsules.fence(capsule, {
      status: "pending",
      execution_authority_epoch,
      import_confirmed_at: yield* now,
      import_confirmed_by: context.actor.subject ?? null
    })
    if (!confirmed) return yield* guardMoved()
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "capsule.confirm_import",
      target: { kind: "capsule", id: capsule.id },
      capsuleId: capsule.id,
      data: { stateVersionId: capsule.current_state_version_id, executionAuthorityEpoch: execution_authority_epoch },
      requestId: context.requestId
    })
    yield* killPoint("import.confirming")
    return yield* toCapsule(yield* load)
  }).pipe(
    transaction(sql),
    Effect.tap(() => killPoint("import.confirmed"))
  )
})

/** The Capsule actors. Each handles the changes that people, schedules and webhooks request for one Capsule, one at a time. */
const actors = serve(CapsuleCommands, {
  Plan: (id, { automatic, context, idempotency, groupId, refreshOnly = false }) =>
    refreshOnly
      ? createRun(load(id), context, { type: "plan", purpose: acceptsDrift }, idempotency)
      : createRun(load(id), context, { type: "plan", runGroupId: groupId, automatic }, idempotency),
  PlanSpeculatively: (id, { context, ...request }) => planSpeculatively(load(id), context, request),
  CancelSpeculative: (id, { context, pullRequestId, reason }) =>
    cancelSpeculative(load(id), context, pullRequestId, reason),
  ReconcilePlan: (id, { context, idempotency }) =>
    createRun(load(id), context, { type: "plan", purpose: "reconcile" }, idempotency),
  DestroyPlan: (id, { context, idempotency }) => createRun(load(id), context, { type: "destroy_plan" }, idempotency),
  DriftCheck: (id, { context, groupId, schedule }) =>
    createRun(load(id), context, { type: "drift_check", runGroupId: groupId, schedule }, undefined).pipe(
      Effect.map(({ value }) => value)
    ),
  RestorePlan: (id, { backupId, context, idempotency }) =>
    createRun(load(id), context, { type: "restore", backupId }, idempotency),
  RollbackPlan: (id, { context, stateVersionId, request }) => rollbackPlan(load(id), context, stateVersionId, request),
  Apply: (id, { context, planRunId, idempotency }) => applyPlan(load(id), context, planRunId, idempotency),
  Update: (id, { context, ...request }) => updateCapsule(load(id), context, request),
  Remove: (id, { context }) => removeCapsule(load(id), context),
  Release: (id, { context, request }) => releaseCapsule(load(id), context, request),
  ConfirmImport: (id, { context, request }) => confirmImport(load(id), context, request),
  ConfigurationPlan: (id, { context, request, idempotency }) =>
    configurationPlan(id, context, request, idempotency, load(id)),
  ReAdopt: (id, { context, request, idempotency }) => reAdopt(id, context, request, idempotency, load(id)),
  AdoptOrphanedState: (id, { context, idempotency, leftOverStateId, request }) =>
    adoptOrphanedState(leftOverStateId, context, request, idempotency, load(id)),
  DiscardOrphanedState: (id, { context, leftOverStateId }) => discardOrphanedState(leftOverStateId, context, load(id)),
  FollowLane: (id) => followDue(id),
  FollowDeferred: (id) => followDeferred(id),
  ApplyFollowed: (_, { planRunId }) => applyFollowed(planRunId)
})

const dueWork = Layer.effectDiscard(
  Effect.gen(function* () {
    const due = yield* DueWork
    const read = yield* ReadSql
    const capsules = yield* CapsuleCommands
    yield* due.serve({
      kind: "follow_lane",
      due: Effect.orDie(
        CapsuleRow.some(read, "id", "workspace_id")`SELECT id, workspace_id FROM capsules
          WHERE follow_snapshot_id IS NOT NULL ORDER BY id`
      ),
      step: ({ id }) => capsules.FollowLane(id)
    })
    yield* due.serve({
      kind: "apply_plan",
      due: Effect.orDie(
        FollowedPlan.rows(
          read
        )`SELECT r.id, r.capsule_id, r.workspace_id FROM run_follow_due d JOIN runs r ON r.id = d.run_id
          WHERE r.coordinator_id IS NULL AND r.capsule_id IS NOT NULL ORDER BY r.id`
      ),
      step: ({ capsule_id, id }) => capsules.ApplyFollowed(capsule_id, { planRunId: id })
    })
  })
)

export const layer = Layer.merge(actors, dueWork)
