import { Effect, Layer } from "effect"
import { notFound } from "../../../schema/errors/ApiError.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import { serve } from "../../Actor.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { DueWork } from "../../base/DueWork.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { acceptsDrift } from "../../ledger/run/RunRow.ts"
import { configurationPlan } from "./ConfigurationPlan.ts"
import { releaseCapsule } from "./CapsuleRelease.ts"
import { confirmImport } from "./ImportConfirmation.ts"
import { applyFollowed } from "./FollowedApply.ts"
import { adoptOrphanedState, discardOrphanedState } from "./OrphanedStateAdoption.ts"
import { followDeferred, followDue } from "./LaneFollowing.ts"
import { removeCapsule, updateCapsule } from "./LifecycleCommands.ts"
import { applyPlan, createRun, rollbackPlan } from "./PlanCommands.ts"
import { reAdopt } from "./ReAdoption.ts"
import { cancelSpeculative, planSpeculatively } from "./SpeculativePlans.ts"
import { CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"

/**
 * Finished auto-update plans that the Capsule actor has not handled yet. Excludes Runs with a coordinator, because the
 * coordinator handles their plans.
 */
const FollowedPlan = rowShape({ id: RunId, capsule_id: CapsuleId, workspace_id: WorkspaceId })

const load = Effect.fnUntraced(function* (id: CapsuleId) {
  const row = yield* (yield* CapsuleLedger).find(id)
  return row === undefined ? yield* notFound("Capsule") : row
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
