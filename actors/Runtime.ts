import { Effect, Layer, Schedule } from "effect"
import { RunFolders } from "../runner/execution/RunFolders.ts"
import { OAuthClient } from "../runner/oauth/OAuthClient.ts"
import { ActorHost } from "./Actor.ts"
import { DueWork } from "./due-work/DueWork.ts"
import { agents, workForAgents } from "./agent/AgentLayers.ts"
import { pools } from "./pool/PoolLayers.ts"
import * as ProfilePools from "./configuration/ProfilePools.ts"
import { AuditRemoval } from "./audit/AuditRemoval.ts"
import { ApprovalRules } from "./approval/ApprovalRules.ts"
import { Approvals } from "./approval/Approvals.ts"
import { ApplyStart } from "./execution/ApplyStart.ts"
import { ApplySettlement } from "./execution/ApplySettlement.ts"
import { makeApplySteps } from "./execution/ApplyExecution.ts"
import { makeBackupExecution } from "./execution/BackupExecution.ts"
import { makeRestoreExecution } from "./execution/RestoreExecution.ts"
import { BackupStore } from "./state/BackupStore.ts"
import { StateAdoption } from "./adoption/StateAdoption.ts"
import { StateReceipt } from "./adoption/StateReceipt.ts"
import * as CapsuleBehavior from "./capsule/CapsuleBehavior.ts"
import { CapsuleBackups } from "./capsule/CapsuleBackups.ts"
import { CapsuleExports } from "./capsule-export/CapsuleExports.ts"
import { CapsuleLeftOvers } from "./capsule/CapsuleLeftOvers.ts"
import { CapsuleLedger } from "./authority/CapsuleLedger.ts"
import { CapsuleRuns } from "./capsule/CapsuleRuns.ts"
import * as CapsulesLive from "./capsule/CapsulesLive.ts"
import { ConfigSuccession } from "./succession/ConfigSuccession.ts"
import { DriftSchedule } from "./capsule/DriftSchedule.ts"
import { OperatorSuccession } from "./succession/OperatorSuccession.ts"
import { makeDriftSteps } from "./execution/DriftExecution.ts"
import { InstallConfigCompilation } from "./configuration/InstallConfigCompilation.ts"
import { DeferredFollows } from "./capsule/DeferredFollows.ts"
import { InstallConfigStore } from "./configuration/InstallConfigStore.ts"
import { makePlanSteps } from "./execution/PlanExecution.ts"
import { ModuleSteps } from "./execution/ModuleSteps.ts"
import { inSteps } from "./execution/RunSteps.ts"
import { KillPoint } from "./KillPoint.ts"
import { PlanSettlement } from "./execution/PlanSettlement.ts"
import { DriftSettlement } from "./execution/DriftSettlement.ts"
import { RunInputs } from "./execution/RunInputs.ts"
import { RunPreparation } from "./execution/RunPreparation.ts"
import { PathFilters } from "./staleness/PathFilters.ts"
import { ChangeCauseReads } from "./staleness/ChangeCauseReads.ts"
import { SourceChangeReads } from "./staleness/SourceChangeReads.ts"
import { StaleReasons } from "./staleness/StaleReasons.ts"
import { readWholeBacklog } from "./state/StateBacklog.ts"
import { ResourceHistory } from "./state/ResourceHistory.ts"
import { StateResources } from "./state/StateResources.ts"
import { StateUploads } from "./state/StateUploads.ts"
import { StateVersions } from "./state/StateVersions.ts"
import * as ConnectionBehavior from "./connection/ConnectionBehavior.ts"
import { ConnectionAuthorizations } from "./connection/ConnectionAuthorizations.ts"
import { ConnectionStore } from "./connection/ConnectionStore.ts"
import { ConnectionTokens } from "./connection/ConnectionTokens.ts"
import { ConnectionUses } from "./connection/ConnectionUses.ts"
import * as ConnectionsLive from "./connection/ConnectionsLive.ts"
import { CredentialTest } from "./connection/CredentialTest.ts"
import { HeldValues } from "./connection/HeldValues.ts"
import { StoredCommits } from "./git-fetch/StoredCommits.ts"
import { TokenRenewals } from "./connection/TokenRenewals.ts"
import { Deliveries } from "./delivery/Deliveries.ts"
import { DeliverySidecar } from "./delivery/DeliverySidecar.ts"
import { Endpoints } from "./delivery/Endpoints.ts"
import { GeneratedSecrets } from "./delivery/GeneratedSecrets.ts"
import { IdentityCapability } from "./delivery/IdentityCapability.ts"
import { Dependencies } from "./dependency/Dependencies.ts"
import { Handoffs } from "./handoff/Handoffs.ts"
import { SetupTickets } from "./handoff/SetupTickets.ts"
import { Receipts } from "./idempotency/Receipts.ts"
import { InitialCommit } from "./install-plan/InitialCommit.ts"
import * as InstallPlanBehavior from "./install-plan/InstallPlanBehavior.ts"
import * as InstallPlansLive from "./install-plan/InstallPlansLive.ts"
import { InstallPlanSteps } from "./install-plan/InstallPlanSteps.ts"
import { InstallPlanStore } from "./install-plan/InstallPlanStore.ts"
import * as InterfaceBehavior from "./interface/InterfaceBehavior.ts"
import { InterfaceConsumption } from "./delivery/InterfaceConsumption.ts"
import { InterfaceLedger } from "./interface/InterfaceLedger.ts"
import { InterfaceMaterialization } from "./interface/InterfaceMaterialization.ts"
import * as InterfacesLive from "./interface/InterfacesLive.ts"
import { RunGroups } from "./run-group/RunGroups.ts"
import { InterfaceSettlement } from "./interface/InterfaceSettlement.ts"
import { Needs } from "./needs/Needs.ts"
import { OutputShares } from "./output-share/OutputShares.ts"
import * as RevisionPlanBehavior from "./revision-plan/RevisionPlanBehavior.ts"
import * as RevisionPlansLive from "./revision-plan/RevisionPlansLive.ts"
import { RevisionPlanSteps } from "./revision-plan/RevisionPlanSteps.ts"
import { RevisionPlanStore } from "./revision-plan/RevisionPlanStore.ts"
import { ApplyRecovery } from "./execution/ApplyRecovery.ts"
import * as RunBehavior from "./run-commands/RunBehavior.ts"
import { LeftOverStates } from "./state/LeftOverStates.ts"
import { RunCheckpoints } from "./state/RunCheckpoints.ts"
import { RunExecutions } from "./execution/RunExecution.ts"
import { RunCancels } from "./run/RunCancels.ts"
import { OutdatedPlans } from "./execution/OutdatedPlans.ts"
import { RunExecutor } from "./execution/RunExecutor.ts"
import { RunHandover } from "./execution/RunHandover.ts"
import { RunJournal } from "./run/RunJournal.ts"
import { RecordRemoval } from "./retention/RecordRemoval.ts"
import { StoredBytes } from "./retention/StoredBytes.ts"
import { LogRemoval } from "./run/LogRemoval.ts"
import { RunLedger } from "./run/RunLedger.ts"
import { RunLifecycle } from "./run/RunLifecycle.ts"
import { RunLogs } from "./run/RunLogs.ts"
import { RunOwner } from "./run/RunOwner.ts"
import { RunSettings } from "./run/RunSettings.ts"
import { QueueRows } from "./queue/QueueRows.ts"
import * as BackgroundCleanup from "./cleanup/BackgroundCleanup.ts"
import { RunAdmission } from "./queue/RunAdmission.ts"
import { RunPlans } from "./execution/RunPlans.ts"
import { RunPreparations } from "./run/RunPreparations.ts"
import { RunQueue } from "./queue/RunQueue.ts"
import { RunRecovery } from "./execution/RunRecovery.ts"
import { RunResults } from "./run/RunResults.ts"
import * as RunStreamsLive from "./run-commands/RunStreamsLive.ts"
import * as RunsLive from "./run-commands/RunsLive.ts"
import { makeCheckExecution } from "./execution/CheckExecution.ts"
import { CompatibilityCheck } from "./source/CompatibilityCheck.ts"
import { DeferredSyncs } from "./source/DeferredSyncs.ts"
import { SnapshotReads } from "./source/SnapshotReads.ts"
import * as SourceBehavior from "./source-commands/SourceBehavior.ts"
import { cleanUpSnapshots } from "./source/SnapshotCleanup.ts"
import { SourceLanes } from "./source/SourceLanes.ts"
import { SourceSchedule } from "./source-commands/SourceSchedule.ts"
import { SourceStore } from "./source/SourceStore.ts"
import * as SourcesLive from "./source-commands/SourcesLive.ts"
import { makeSyncExecution } from "./execution/SyncExecution.ts"
import { Teams } from "./team/Teams.ts"

/** Services that hold records and need no other actor. */
const records = Layer.mergeAll(
  Approvals.layer,
  RunLogs.layer,
  RunOwner.layer,
  RunLedger.layer,
  Layer.mergeAll(RunQueue.layer, RunAdmission.layer).pipe(
    Layer.provideMerge(QueueRows.layer),
    Layer.provideMerge(pools),
    Layer.provide(Layer.mergeAll(RunLedger.layer, RunCancels.layer))
  ),
  LeftOverStates.layer.pipe(Layer.provideMerge(RunCheckpoints.layer)),
  RunPlans.layer,
  RunPreparations.layer,
  RunResults.layer,
  CapsuleLedger.layer,
  InstallConfigStore.layer,
  StateVersions.layer,
  BackupStore.layer,
  HeldValues.layer.pipe(Layer.provideMerge(Layer.mergeAll(ConnectionStore.layer, ConnectionTokens.layer))),
  ConnectionAuthorizations.layer,
  OAuthClient.layer,
  ConnectionUses.layer,
  CredentialTest.layer,
  SourceStore.layer,
  SourceLanes.layer,
  DeferredSyncs.layer,
  InstallPlanStore.layer.pipe(Layer.provideMerge(StateUploads.layer)),
  RevisionPlanStore.layer,
  Receipts.layer
).pipe(Layer.provideMerge(RunLifecycle.layer), Layer.provideMerge(RunJournal.layer), Layer.provide(ProfilePools.layer))

/** The place where Runs are executed: this machine. */
const place = Layer.unwrap(Effect.map(RunSettings, ({ runsFolder }) => RunFolders.layerAt(runsFolder)))

const stores = StaleReasons.layer.pipe(Layer.provideMerge(PathFilters.layer), Layer.provideMerge(records))

/** What configurations request from the host, together with the Runs that need it. */
const hosting = Deliveries.layer.pipe(
  Layer.provideMerge(InterfaceConsumption.layer),
  Layer.provideMerge(
    Layer.mergeAll(Endpoints.layer, GeneratedSecrets.layer, DeliverySidecar.layer, IdentityCapability.layer)
  ),
  Layer.provideMerge(Layer.mergeAll(InterfaceSettlement.layer, InterfaceMaterialization.layer)),
  Layer.provideMerge(InterfaceLedger.layer)
)

/** Services that read the runner's world for the actors. */
const inspection = Layer.mergeAll(
  RunInputs.layer,
  SnapshotReads.layer,
  ChangeCauseReads.layer.pipe(Layer.provideMerge(SourceChangeReads.layer)),
  OperatorSuccession.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(ConfigSuccession.layer, InstallConfigCompilation.layer))
  )
).pipe(Layer.provideMerge(CompatibilityCheck.layer), Layer.provideMerge(hosting))

/** Services that finish a Run, given its rows and the result of its job. */
const settlements = Layer.mergeAll(
  PlanSettlement.layer,
  ApplyStart.layer.pipe(Layer.provideMerge(ApplySettlement.layer)),
  DriftSettlement.layer
)

const moduleSteps = Layer.effect(
  ModuleSteps,
  Effect.gen(function* () {
    return ModuleSteps.of({
      plan: yield* makePlanSteps,
      apply: yield* makeApplySteps,
      drift: yield* makeDriftSteps
    })
  })
).pipe(Layer.provide(RunPreparation.layer), Layer.provide(StoredCommits.layer), Layer.provide(TokenRenewals.layer))

const executions = Layer.effect(
  RunExecutions,
  Effect.gen(function* () {
    const steps = yield* ModuleSteps
    const killPoint = yield* KillPoint
    const plan = inSteps(steps.plan, killPoint)
    const apply = inSteps(steps.apply, killPoint)
    const backup = yield* makeBackupExecution
    return {
      source_sync: yield* makeSyncExecution,
      compatibility_check: yield* makeCheckExecution,
      plan,
      destroy_plan: plan,
      apply,
      destroy_apply: apply,
      drift_check: inSteps(steps.drift, killPoint),
      backup,
      restore: yield* makeRestoreExecution
    }
  })
).pipe(Layer.provide(StoredCommits.layer), Layer.provide(TokenRenewals.layer))

const behaviors = Layer.mergeAll(
  CapsuleBehavior.layer,
  ConnectionBehavior.layer,
  InstallPlanBehavior.layer,
  InterfaceBehavior.layer,
  RevisionPlanBehavior.layer,
  RunBehavior.layer,
  SourceBehavior.layer
).pipe(
  Layer.provide(Layer.mergeAll(InstallPlanSteps.layer, RevisionPlanSteps.layer)),
  Layer.provide(InitialCommit.layer),
  Layer.provideMerge(Layer.mergeAll(CapsuleRuns.layer, StateAdoption.layer))
)

/** The Runs of a previous process are settled first; only afterwards are Runs taken from the queue. */
const work = Layer.effectDiscard(
  Effect.gen(function* () {
    const recovery = yield* RunRecovery
    const executor = yield* RunExecutor
    const groups = yield* RunGroups
    yield* recovery.recover
    yield* (yield* LeftOverStates).takeOver
    yield* (yield* StaleReasons).compareUnread
    yield* workForAgents
    yield* Effect.forkScoped(executor.work)
    yield* Effect.forkScoped(groups.follow)
    yield* Effect.forkScoped((yield* DueWork).follow)
    yield* Effect.forkScoped(readWholeBacklog)
    // Archives are kept for a day after their last record has been removed: a new record may not have been written yet.
    yield* Effect.forkScoped(Effect.repeat(cleanUpSnapshots, Schedule.spaced("1 day")))
    yield* Effect.addFinalizer(() => executor.drain)
  })
).pipe(Layer.provide(RunRecovery.layer))

const clients = Layer.mergeAll(
  ApprovalRules.layer,
  Teams.layer,
  CapsulesLive.layer,
  CapsuleLeftOvers.layer,
  CapsuleBackups.layer,
  CapsuleExports.layer.pipe(Layer.provide(TokenRenewals.layer)),
  ConnectionsLive.layer,
  Dependencies.layer,
  Handoffs.layer.pipe(Layer.provideMerge(SetupTickets.layer)),
  InstallPlansLive.layer,
  InterfacesLive.layer,
  Needs.layer.pipe(Layer.provide(Layer.mergeAll(ConnectionsLive.layer, SourcesLive.layer))),
  OutputShares.layer,
  RevisionPlansLive.layer,
  RunsLive.layer,
  SourcesLive.layer,
  StateReceipt.layer,
  ResourceHistory.layer,
  StateResources.layer,
  TokenRenewals.layer
)

/**
 * All actors in one process on the embedded database, with their clients. Needs the database, the vault, audit and
 * cursors, the runner's services and `RunSettings`.
 */
export const layer = Layer.mergeAll(
  clients,
  RunStreamsLive.layer,
  work,
  BackgroundCleanup.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        TokenRenewals.layer,
        LogRemoval.layer,
        AuditRemoval.layer,
        RecordRemoval.layer,
        OutdatedPlans.layer
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(SourceSchedule.layer, DeferredFollows.layer, DriftSchedule.layer, StoredBytes.layer)
    )
  )
).pipe(
  Layer.provide(RunGroups.layer),
  Layer.provide(behaviors),
  Layer.provideMerge(RunExecutor.layer),
  Layer.provide(place),
  Layer.provideMerge(agents),
  Layer.provideMerge(RunCancels.layer),
  Layer.provide(executions),
  Layer.provide(moduleSteps),
  Layer.provideMerge(ApplyRecovery.layer),
  Layer.provideMerge(settlements),
  Layer.provide(RunHandover.layer),
  Layer.provideMerge(inspection),
  Layer.provideMerge(stores),
  Layer.provide(Layer.mergeAll(DueWork.layer, ActorHost.layer))
)
