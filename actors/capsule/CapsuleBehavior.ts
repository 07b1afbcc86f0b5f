import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { Entity } from "effect/cluster"
import type { SqlClient } from "effect/sql"
import { notFound } from "../../schema/errors/ApiError.ts"
import { CapsuleActor } from "../../schema/protocol/CapsuleActor.ts"
import { actorOptions } from "../ActorClient.ts"
import type { Approvals } from "../approval/Approvals.ts"
import type { Audit } from "../audit/Audit.ts"
import type { ConnectionStore } from "../connection/ConnectionStore.ts"
import type { Deliveries } from "../delivery/Deliveries.ts"
import type { Receipts } from "../idempotency/Receipts.ts"
import type { InterfaceLedger } from "../interface/InterfaceLedger.ts"
import type { InterfaceSettlement } from "../interface/InterfaceSettlement.ts"
import type { RunLedger } from "../run/RunLedger.ts"
import type { RunQueue } from "../queue/RunQueue.ts"
import type { SourceLanes } from "../source/SourceLanes.ts"
import type { SourceStore } from "../source/SourceStore.ts"
import type { Vault } from "../vault/Vault.ts"
import { CapsuleLedger } from "../authority/CapsuleLedger.ts"
import type { CapsuleRuns } from "./CapsuleRuns.ts"
import type { ConfigSuccession } from "../succession/ConfigSuccession.ts"
import { configurationPlan } from "./ConfigurationPlan.ts"
import type { InstallConfigCompilation } from "../configuration/InstallConfigCompilation.ts"
import type { InstallConfigStore } from "../configuration/InstallConfigStore.ts"
import { releaseCapsule } from "./CapsuleRelease.ts"
import { confirmImport } from "./ImportConfirmation.ts"
import { applyFollowed } from "./FollowedApply.ts"
import { adoptLeftOver, discardLeftOver } from "./LeftOverAdoption.ts"
import { followDeferred, followLane } from "./LaneFollowing.ts"
import { removeUnapplied, updateCapsule } from "./LifecycleCommands.ts"
import { applyPlan, createRun, rollbackPlan } from "./PlanCommands.ts"
import { reAdopt } from "./ReAdoption.ts"
import type { StaleReasons } from "../staleness/StaleReasons.ts"
import type { LeftOverStates } from "../state/LeftOverStates.ts"
import type { StateVersions } from "../state/StateVersions.ts"
import { CapsuleId } from "../../schema/records/Ids.ts"

/** The Capsule actor: every change to one Capsule's authority goes through here, one at a time. */
export const layer = CapsuleActor.toLayer(
  Effect.gen(function* () {
    const capsules = yield* CapsuleLedger
    const services = yield* Effect.context<
      | Approvals
      | Audit
      | CapsuleLedger
      | CapsuleRuns
      | ConfigSuccession
      | ConnectionStore
      | InstallConfigCompilation
      | InstallConfigStore
      | Deliveries
      | InterfaceLedger
      | InterfaceSettlement
      | LeftOverStates
      | Receipts
      | RunLedger
      | RunQueue
      | SecureRandom.SecureRandom
      | SourceLanes
      | SourceStore
      | SqlClient.SqlClient
      | StaleReasons
      | StateVersions
      | Vault
    >()
    const id = CapsuleId.make((yield* Entity.CurrentAddress).entityId)

    const load = Effect.gen(function* () {
      const row = yield* capsules.find(id)
      return row === undefined ? yield* notFound("Capsule") : row
    })

    return CapsuleActor.of({
      Plan: ({ payload: { context, idempotency, groupId } }) =>
        createRun(load, context, { type: "plan", runGroupId: groupId }, idempotency).pipe(
          Effect.provideContext(services)
        ),
      ReconcilePlan: ({ payload: { context, idempotency } }) =>
        createRun(load, context, { type: "plan", purpose: "reconcile" }, idempotency).pipe(
          Effect.provideContext(services)
        ),
      DestroyPlan: ({ payload: { context, idempotency } }) =>
        createRun(load, context, { type: "destroy_plan" }, idempotency).pipe(Effect.provideContext(services)),
      DriftCheck: ({ payload: { context, groupId, schedule } }) =>
        createRun(load, context, { type: "drift_check", runGroupId: groupId, schedule }, undefined).pipe(
          Effect.map(({ value }) => value),
          Effect.provideContext(services)
        ),
      RestorePlan: ({ payload: { backupId, context, idempotency } }) =>
        createRun(load, context, { type: "restore", backupId }, idempotency).pipe(Effect.provideContext(services)),
      RollbackPlan: ({ payload: { context, stateVersionId, request } }) =>
        rollbackPlan(load, context, stateVersionId, request).pipe(Effect.provideContext(services)),
      Apply: ({ payload: { context, planRunId, idempotency } }) =>
        applyPlan(load, context, planRunId, idempotency).pipe(Effect.provideContext(services)),
      Update: ({ payload: { context, ...request } }) =>
        updateCapsule(load, context, request).pipe(Effect.provideContext(services)),
      Remove: Effect.fn("Capsule.Remove")(function* ({ payload: { context } }) {
        const capsule = yield* load
        if (capsule.current_state_version_id === null && capsule.runtime_safety === "safe") {
          return yield* removeUnapplied(load, context)
        }
        return { run: (yield* createRun(load, context, { type: "destroy_plan" }, undefined)).value }
      }, Effect.provideContext(services)),
      Release: ({ payload: { context, request } }) =>
        releaseCapsule(load, context, request).pipe(Effect.provideContext(services)),
      ConfirmImport: ({ payload: { context, request } }) =>
        confirmImport(load, context, request).pipe(Effect.provideContext(services)),
      ConfigurationPlan: ({ payload: { context, request, idempotency } }) =>
        configurationPlan(id, context, request, idempotency, load).pipe(Effect.provideContext(services)),
      ReAdopt: ({ payload: { context, request, idempotency } }) =>
        reAdopt(id, context, request, idempotency, load).pipe(Effect.provideContext(services)),
      AdoptLeftOver: ({ payload: { context, idempotency, leftOverStateId, request } }) =>
        adoptLeftOver(leftOverStateId, context, request, idempotency, load).pipe(Effect.provideContext(services)),
      DiscardLeftOver: ({ payload: { context, leftOverStateId } }) =>
        discardLeftOver(leftOverStateId, context, load).pipe(Effect.provideContext(services)),
      FollowLane: ({ payload: { sourceSnapshotId } }) =>
        followLane(id, sourceSnapshotId).pipe(Effect.provideContext(services)),
      FollowDeferred: () => followDeferred(id).pipe(Effect.provideContext(services)),
      ApplyFollowed: ({ payload: { planRunId } }) => applyFollowed(planRunId).pipe(Effect.provideContext(services))
    })
  }),
  actorOptions
)
