import { Effect, Layer, Schedule } from "effect"
import { RunFolders } from "../runner/execution/RunFolders.ts"
import { OAuthClient } from "../runner/oauth/OAuthClient.ts"
import { CapsuleCommands } from "../schema/commands/CapsuleCommands.ts"
import { ConnectionCommands } from "../schema/commands/ConnectionCommands.ts"
import { InstallPlanCommands } from "../schema/commands/InstallPlanCommands.ts"
import { InterfaceCommands } from "../schema/commands/InterfaceCommands.ts"
import { RevisionPlanCommands } from "../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../schema/commands/RunCommands.ts"
import { SourceCommands } from "../schema/commands/SourceCommands.ts"
import { mailboxesOf } from "./Actor.ts"
import { DueWork } from "./base/DueWork.ts"
import { agents, workForAgents } from "./running/agent/AgentLayers.ts"
import { pools } from "./running/agent-pool/PoolLayers.ts"
import * as ProfilePools from "./ledger/configuration/ProfilePools.ts"
import { AuditRemoval } from "./base/audit/AuditRemoval.ts"
import { ApprovalRules } from "./access/approval/ApprovalRules.ts"
import { Approvals } from "./access/approval/Approvals.ts"
import { ApplyStart } from "./running/execution/ApplyStart.ts"
import { ApplySettlement } from "./running/execution/ApplySettlement.ts"
import { makeApplySteps } from "./running/execution/ApplyExecution.ts"
import { makeBackupExecution } from "./running/execution/BackupExecution.ts"
import { makeRestoreExecution } from "./running/execution/RestoreExecution.ts"
import { BackupStore } from "./ledger/state/BackupStore.ts"
import { StateAdoption } from "./commands/adoption/StateAdoption.ts"
import { StateReceipt } from "./commands/adoption/StateReceipt.ts"
import * as CapsuleActor from "./commands/capsule/CapsuleActor.ts"
import { CapsuleBackups } from "./commands/capsule/CapsuleBackups.ts"
import { CapsuleExports } from "./commands/capsule-export/CapsuleExports.ts"
import { CapsuleLeftOvers } from "./commands/capsule/CapsuleLeftOvers.ts"
import { CapsuleLedger } from "./ledger/capsule/CapsuleLedger.ts"
import { CapsuleRuns } from "./commands/capsule/CapsuleRuns.ts"
import * as CapsulesLive from "./commands/capsule/CapsulesLive.ts"
import { ConfigSuccession } from "./ledger/configuration/ConfigSuccession.ts"
import { DriftSchedule } from "./commands/capsule/DriftSchedule.ts"
import { OperatorSuccession } from "./ledger/configuration/OperatorSuccession.ts"
import { makeDriftSteps } from "./running/execution/DriftExecution.ts"
import { InstallConfigCompilation } from "./ledger/configuration/InstallConfigCompilation.ts"
import { DeferredFollows } from "./commands/capsule/DeferredFollows.ts"
import { InstallConfigStore } from "./ledger/configuration/InstallConfigStore.ts"
import { makePlanSteps } from "./running/execution/PlanExecution.ts"
import { ModuleSteps } from "./running/execution/ModuleSteps.ts"
import { inSteps } from "./running/execution/RunSteps.ts"
import { KillPoint } from "./base/KillPoint.ts"
import { PlanSettlement } from "./running/execution/PlanSettlement.ts"
import { DriftSettlement } from "./running/execution/DriftSettlement.ts"
import { RunInputs } from "./running/execution/RunInputs.ts"
import { RunPreparation } from "./running/execution/RunPreparation.ts"
import { PathFilters } from "./ledger/staleness/PathFilters.ts"
import { ChangeCauseReads } from "./ledger/staleness/ChangeCauseReads.ts"
import { SourceChangeReads } from "./ledger/staleness/SourceChangeReads.ts"
import { StaleReasons } from "./ledger/staleness/StaleReasons.ts"
import { readWholeBacklog } from "./ledger/state/StateBacklog.ts"
import { ResourceHistory } from "./ledger/state/ResourceHistory.ts"
import { StateResources } from "./ledger/state/StateResources.ts"
import { StateUploads } from "./ledger/state/StateUploads.ts"
import { StateVersions } from "./ledger/state/StateVersions.ts"
import * as ConnectionActor from "./inputs/connection/ConnectionActor.ts"
import { ConnectionAuthorizations } from "./inputs/connection/ConnectionAuthorizations.ts"
import { ConnectionStore } from "./inputs/connection/ConnectionStore.ts"
import { ConnectionTokens } from "./inputs/connection/ConnectionTokens.ts"
import { ConnectionUses } from "./inputs/connection/ConnectionUses.ts"
import * as ConnectionsLive from "./inputs/connection/ConnectionsLive.ts"
import { CredentialTest } from "./inputs/connection/CredentialTest.ts"
import { CredentialsInUse } from "./inputs/connection/CredentialsInUse.ts"
import { StoredCommits } from "./inputs/git/StoredCommits.ts"
import { TokenRenewals } from "./inputs/connection/TokenRenewals.ts"
import { Deliveries } from "./inputs/delivery/Deliveries.ts"
import { RunDeliveries } from "./inputs/delivery/RunDeliveries.ts"
import { Endpoints } from "./inputs/delivery/Endpoints.ts"
import { GeneratedSecrets } from "./inputs/delivery/GeneratedSecrets.ts"
import { IdentityCapability } from "./inputs/delivery/IdentityCapability.ts"
import { Dependencies } from "./ledger/dependency/Dependencies.ts"
import { Handoffs } from "./commands/handoff/Handoffs.ts"
import { SetupTickets } from "./commands/handoff/SetupTickets.ts"
import { Receipts } from "./base/idempotency/Receipts.ts"
import { InitialCommit } from "./commands/install-plan/InitialCommit.ts"
import * as InstallPlanActor from "./commands/install-plan/InstallPlanActor.ts"
import * as InstallPlansLive from "./commands/install-plan/InstallPlansLive.ts"
import { InstallPlanSteps } from "./commands/install-plan/InstallPlanSteps.ts"
import { InstallPlanStore } from "./commands/install-plan/InstallPlanStore.ts"
import * as InterfaceActor from "./ledger/interface/InterfaceActor.ts"
import { InterfaceConsumption } from "./inputs/delivery/InterfaceConsumption.ts"
import { InterfaceLedger } from "./ledger/interface/InterfaceLedger.ts"
import { InterfaceMaterialization } from "./ledger/interface/InterfaceMaterialization.ts"
import * as InterfacesLive from "./ledger/interface/InterfacesLive.ts"
import { RunGroups } from "./running/run-group/RunGroups.ts"
import { InterfaceSettlement } from "./ledger/interface/InterfaceSettlement.ts"
import { Needs } from "./commands/attention/Needs.ts"
import { OutputShares } from "./ledger/output-share/OutputShares.ts"
import * as RevisionPlanActor from "./commands/revision-plan/RevisionPlanActor.ts"
import * as RevisionPlansLive from "./commands/revision-plan/RevisionPlansLive.ts"
import { RevisionPlanSteps } from "./commands/revision-plan/RevisionPlanSteps.ts"
import { RevisionPlanStore } from "./commands/revision-plan/RevisionPlanStore.ts"
import { ApplyRecovery } from "./running/execution/ApplyRecovery.ts"
import * as RunActor from "./commands/run/RunActor.ts"
import { LeftOverStates } from "./ledger/state/LeftOverStates.ts"
import { RunCheckpoints } from "./ledger/state/RunCheckpoints.ts"
import { RunExecutions } from "./running/execution/RunExecution.ts"
import { RunCancels } from "./ledger/run/RunCancels.ts"
import { OutdatedPlans } from "./running/execution/OutdatedPlans.ts"
import { RunExecutor } from "./running/execution/RunExecutor.ts"
import { RunHandover } from "./running/execution/RunHandover.ts"
import { RunJournal } from "./ledger/run/RunJournal.ts"
import { RecordRemoval } from "./upkeep/retention/RecordRemoval.ts"
import { StoredBytes } from "./upkeep/retention/StoredBytes.ts"
import { LogRemoval } from "./ledger/run/LogRemoval.ts"
import { RunLedger } from "./ledger/run/RunLedger.ts"
import { RunLifecycle } from "./ledger/run/RunLifecycle.ts"
import { RunLogs } from "./ledger/run/RunLogs.ts"
import { RunOwner } from "./ledger/run/RunOwner.ts"
import { RunSettings } from "./ledger/run/RunSettings.ts"
import { QueueRows } from "./running/queue/QueueRows.ts"
import * as BackgroundCleanup from "./upkeep/cleanup/BackgroundCleanup.ts"
import { RunAdmission } from "./running/queue/RunAdmission.ts"
import { RunPlans } from "./running/execution/RunPlans.ts"
import { RunPreparations } from "./ledger/run/RunPreparations.ts"
import { RunQueue } from "./running/queue/RunQueue.ts"
import { RunRecovery } from "./running/execution/RunRecovery.ts"
import { RunResults } from "./ledger/run/RunResults.ts"
import * as RunStreamsLive from "./commands/run/RunStreamsLive.ts"
import * as RunsLive from "./commands/run/RunsLive.ts"
import { makeCheckExecution } from "./running/execution/CheckExecution.ts"
import { CompatibilityCheck } from "./ledger/source/CompatibilityCheck.ts"
import { DeferredSyncs } from "./ledger/source/DeferredSyncs.ts"
import { SnapshotReads } from "./ledger/source/SnapshotReads.ts"
import * as SourceActor from "./commands/source/SourceActor.ts"
import { cleanUpSnapshots } from "./ledger/source/SnapshotCleanup.ts"
import { SourceLanes } from "./ledger/source/SourceLanes.ts"
import { SourceSchedule } from "./commands/source/SourceSchedule.ts"
import { SourceStore } from "./ledger/source/SourceStore.ts"
import * as SourcesLive from "./commands/source/SourcesLive.ts"
import { makeSyncExecution } from "./running/execution/SyncExecution.ts"
import { Teams } from "./access/team/Teams.ts"

/** The clients of all actors. They need nothing, so that lower floors may command higher ones. */
const mailboxes = Layer.mergeAll(
  mailboxesOf(CapsuleCommands),
  mailboxesOf(ConnectionCommands),
  mailboxesOf(InstallPlanCommands),
  mailboxesOf(InterfaceCommands),
  mailboxesOf(RevisionPlanCommands),
  mailboxesOf(RunCommands),
  mailboxesOf(SourceCommands)
)

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
  CredentialsInUse.layer.pipe(Layer.provideMerge(Layer.mergeAll(ConnectionStore.layer, ConnectionTokens.layer))),
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

/** The values that the host delivers to configurations, together with the Runs that need them. */
const hosting = Deliveries.layer.pipe(
  Layer.provideMerge(InterfaceConsumption.layer),
  Layer.provideMerge(
    Layer.mergeAll(Endpoints.layer, GeneratedSecrets.layer, RunDeliveries.layer, IdentityCapability.layer)
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
  CapsuleActor.layer,
  ConnectionActor.layer,
  InstallPlanActor.layer,
  InterfaceActor.layer,
  RevisionPlanActor.layer,
  RunActor.layer,
  SourceActor.layer
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
    // Archives are kept for a day after their last record has been removed, because a new record may not have been written yet.
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
  Layer.provide(DueWork.layer),
  Layer.provideMerge(mailboxes)
)
