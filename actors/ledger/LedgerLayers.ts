import { Layer } from "effect"
import { CapsuleLedger } from "./capsule/CapsuleLedger.ts"
import { ConfigSuccession } from "./configuration/ConfigSuccession.ts"
import { InstallConfigCompilation } from "./configuration/InstallConfigCompilation.ts"
import { InstallConfigStore } from "./configuration/InstallConfigStore.ts"
import { OperatorSuccession } from "./configuration/OperatorSuccession.ts"
import * as ProfilePools from "./configuration/ProfilePools.ts"
import { Dependencies } from "./dependency/Dependencies.ts"
import * as InterfaceActor from "./interface/InterfaceActor.ts"
import { InterfaceLedger } from "./interface/InterfaceLedger.ts"
import { InterfaceMaterialization } from "./interface/InterfaceMaterialization.ts"
import { InterfaceSettlement } from "./interface/InterfaceSettlement.ts"
import * as InterfacesLive from "./interface/InterfacesLive.ts"
import { OutputShares } from "./output-share/OutputShares.ts"
import { PullRequestReports } from "./pull-request-report/PullRequestReports.ts"
import { PullRequestStore } from "./pull-request/PullRequestStore.ts"
import { LogRemoval } from "./run/LogRemoval.ts"
import { RunCancels } from "./run/RunCancels.ts"
import { RunJournal } from "./run/RunJournal.ts"
import { RunLedger } from "./run/RunLedger.ts"
import { RunLifecycle } from "./run/RunLifecycle.ts"
import { RunLogs } from "./run/RunLogs.ts"
import { RunPreparations } from "./run/RunPreparations.ts"
import { RunResults } from "./run/RunResults.ts"
import { CompatibilityCheck } from "./source/CompatibilityCheck.ts"
import { DeferredSyncs } from "./source/DeferredSyncs.ts"
import { SnapshotReads } from "./source/SnapshotReads.ts"
import { SourceLanes } from "./source/SourceLanes.ts"
import { SourceStore } from "./source/SourceStore.ts"
import { ChangeCauseReads } from "./staleness/ChangeCauseReads.ts"
import { PathFilters } from "./staleness/PathFilters.ts"
import { SourceChangeReads } from "./staleness/SourceChangeReads.ts"
import { StaleReasons } from "./staleness/StaleReasons.ts"
import { BackupStore } from "./state/BackupStore.ts"
import { OrphanedStates } from "./state/OrphanedStates.ts"
import { ResourceHistory } from "./state/ResourceHistory.ts"
import { RunCheckpoints } from "./state/RunCheckpoints.ts"
import { StateResources } from "./state/StateResources.ts"
import { StateUploads } from "./state/StateUploads.ts"
import { StateVersions } from "./state/StateVersions.ts"

const records = Layer.mergeAll(
  RunLogs.layer,
  RunLedger.layer,
  OrphanedStates.layer.pipe(Layer.provideMerge(RunCheckpoints.layer)),
  RunPreparations.layer,
  RunResults.layer,
  CapsuleLedger.layer,
  InstallConfigStore.layer,
  StateVersions.layer,
  BackupStore.layer,
  StateUploads.layer,
  SourceStore.layer,
  SourceLanes.layer,
  DeferredSyncs.layer,
  PullRequestStore.layer,
  PullRequestReports.layer
).pipe(
  Layer.provideMerge(RunLifecycle.layer),
  Layer.provideMerge(Layer.mergeAll(RunJournal.layer, RunCancels.layer)),
  Layer.provideMerge(ProfilePools.layer)
)

const interfaces = Layer.mergeAll(InterfaceSettlement.layer, InterfaceMaterialization.layer).pipe(
  Layer.provideMerge(InterfaceLedger.layer)
)

const configurations = OperatorSuccession.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(ConfigSuccession.layer, InstallConfigCompilation.layer))
)

const reads = Layer.mergeAll(
  SnapshotReads.layer,
  ChangeCauseReads.layer.pipe(Layer.provideMerge(SourceChangeReads.layer)),
  ResourceHistory.layer,
  StateResources.layer,
  InterfacesLive.layer,
  Dependencies.layer,
  OutputShares.layer
)

/**
 * Layers for the ledger: the record stores and their reads. Requires the database, the vault and the runner's services.
 */
export const ledger = Layer.mergeAll(reads, configurations, InterfaceActor.layer, LogRemoval.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(CompatibilityCheck.layer, interfaces)),
  Layer.provideMerge(StaleReasons.layer),
  Layer.provideMerge(PathFilters.layer),
  Layer.provideMerge(records)
)
