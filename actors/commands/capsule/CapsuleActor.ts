import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { notFound } from "../../../schema/errors/ApiError.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import { actorLayer, commandsTo, handle } from "../../Actor.ts"
import { Approvals } from "../../access/approval/Approvals.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { DueWork } from "../../base/DueWork.ts"
import { RunHandover } from "../../running/execution/RunHandover.ts"
import { Deliveries } from "../../inputs/delivery/Deliveries.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { InterfaceLedger } from "../../ledger/interface/InterfaceLedger.ts"
import { InterfaceSettlement } from "../../ledger/interface/InterfaceSettlement.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { CapsuleRuns } from "./CapsuleRuns.ts"
import { ConfigSuccession } from "../../ledger/configuration/ConfigSuccession.ts"
import { configurationPlan } from "./ConfigurationPlan.ts"
import { InstallConfigCompilation } from "../../ledger/configuration/InstallConfigCompilation.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { releaseCapsule } from "./CapsuleRelease.ts"
import { confirmImport } from "./ImportConfirmation.ts"
import { applyFollowed } from "./FollowedApply.ts"
import { adoptLeftOver, discardLeftOver } from "./LeftOverAdoption.ts"
import { followDeferred, followDue } from "./LaneFollowing.ts"
import { removeCapsule, updateCapsule } from "./LifecycleCommands.ts"
import { applyPlan, createRun, rollbackPlan } from "./PlanCommands.ts"
import { reAdopt } from "./ReAdoption.ts"
import { PathFilters } from "../../ledger/staleness/PathFilters.ts"
import { StaleReasons } from "../../ledger/staleness/StaleReasons.ts"
import { LeftOverStates } from "../../ledger/state/LeftOverStates.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { captureServices, provideCaptured } from "../../CapturedServices.ts"

/** Plans that auto-update has started and that wait to be followed. A Run with a coordinator is followed by that. */
const FollowedPlan = rowShape({ id: RunId, capsule_id: CapsuleId, workspace_id: WorkspaceId })

/** The Capsule actor: every change to one Capsule's authority goes through here, one at a time. */
export const layer = actorLayer(
  CapsuleCommands,
  CapsuleId,
  Effect.gen(function* () {
    const capsules = yield* CapsuleLedger
    const services = yield* captureServices(
      Approvals,
      Audit,
      CapsuleLedger,
      CapsuleRuns,
      ConfigSuccession,
      ConnectionStore,
      InstallConfigCompilation,
      InstallConfigStore,
      Deliveries,
      InterfaceLedger,
      InterfaceSettlement,
      LeftOverStates,
      PathFilters,
      Receipts,
      RunHandover,
      RunLedger,
      RunLifecycle,
      RunQueue,
      SecureRandom.SecureRandom,
      SourceLanes,
      SourceStore,
      SqlClient.SqlClient,
      StaleReasons,
      StateVersions,
      Vault
    )
    const serving = provideCaptured(services)
    const due = yield* DueWork
    const read = yield* ReadSql
    const send = yield* commandsTo(CapsuleCommands)

    yield* due.serve({
      kind: "follow_lane",
      due: Effect.orDie(
        CapsuleRow.some(read, "id", "workspace_id")`SELECT id, workspace_id FROM capsules
          WHERE follow_snapshot_id IS NOT NULL ORDER BY id`
      ),
      step: ({ id }) => send(id, "FollowLane", undefined)
    })
    yield* due.serve({
      kind: "apply_plan",
      due: Effect.orDie(
        FollowedPlan.rows(
          read
        )`SELECT r.id, r.capsule_id, r.workspace_id FROM run_follow_due d JOIN runs r ON r.id = d.run_id
          WHERE r.coordinator_id IS NULL AND r.capsule_id IS NOT NULL ORDER BY r.id`
      ),
      step: ({ capsule_id, id }) => send(capsule_id, "ApplyFollowed", { planRunId: id })
    })

    return (id: CapsuleId) => {
      const load = Effect.gen(function* () {
        const row = yield* capsules.find(id)
        return row === undefined ? yield* notFound("Capsule") : row
      })

      return handle(CapsuleCommands, {
        Plan: ({ payload: { automatic, context, idempotency, groupId } }) =>
          createRun(load, context, { type: "plan", runGroupId: groupId, automatic }, idempotency).pipe(serving),
        ReconcilePlan: ({ payload: { context, idempotency } }) =>
          createRun(load, context, { type: "plan", purpose: "reconcile" }, idempotency).pipe(serving),
        DestroyPlan: ({ payload: { context, idempotency } }) =>
          createRun(load, context, { type: "destroy_plan" }, idempotency).pipe(serving),
        DriftCheck: ({ payload: { context, groupId, schedule } }) =>
          createRun(load, context, { type: "drift_check", runGroupId: groupId, schedule }, undefined).pipe(
            Effect.map(({ value }) => value),
            serving
          ),
        RestorePlan: ({ payload: { backupId, context, idempotency } }) =>
          createRun(load, context, { type: "restore", backupId }, idempotency).pipe(serving),
        RollbackPlan: ({ payload: { context, stateVersionId, request } }) =>
          rollbackPlan(load, context, stateVersionId, request).pipe(serving),
        Apply: ({ payload: { context, planRunId, idempotency } }) =>
          applyPlan(load, context, planRunId, idempotency).pipe(serving),
        Update: ({ payload: { context, ...request } }) => updateCapsule(load, context, request).pipe(serving),
        Remove: ({ payload: { context } }) => removeCapsule(load, context).pipe(serving),
        Release: ({ payload: { context, request } }) => releaseCapsule(load, context, request).pipe(serving),
        ConfirmImport: ({ payload: { context, request } }) => confirmImport(load, context, request).pipe(serving),
        ConfigurationPlan: ({ payload: { context, request, idempotency } }) =>
          configurationPlan(id, context, request, idempotency, load).pipe(serving),
        ReAdopt: ({ payload: { context, request, idempotency } }) =>
          reAdopt(id, context, request, idempotency, load).pipe(serving),
        AdoptLeftOver: ({ payload: { context, idempotency, leftOverStateId, request } }) =>
          adoptLeftOver(leftOverStateId, context, request, idempotency, load).pipe(serving),
        DiscardLeftOver: ({ payload: { context, leftOverStateId } }) =>
          discardLeftOver(leftOverStateId, context, load).pipe(serving),
        FollowLane: () => followDue(id).pipe(serving),
        FollowDeferred: () => followDeferred(id).pipe(serving),
        ApplyFollowed: ({ payload: { planRunId } }) => applyFollowed(planRunId).pipe(serving)
      })
    }
  })
)
