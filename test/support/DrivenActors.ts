/**
 * Files in `actors/` that branch but are not imported by any test: their decisions are in tested pure functions, and the rest
 * only sequences and writes. Each is listed with a test that exercises it through its actor, and with what it branches on.
 */
export const drivenActors: Readonly<Record<string, readonly [test: string, why: string]>> = {
  "actors/account/NewPasskeys.ts": ["e2e/PasskeyAttacks", "refuses what the library does not verify, and long ids"],
  "actors/adoption/SealedBackupFile.ts": ["actors/adoption/BackupImport", "refusals in the order of opening a file"],
  "actors/adoption/StateAdoption.ts": ["actors/adoption/StateAdoption", "asks StateConflicts and ModuleMismatch"],
  "actors/agent/JobSecrets.ts": [
    "src/http/agent/AgentRuns",
    "what each kind of job carries, and what travels beside it"
  ],
  "actors/approval/PlanAuthors.ts": ["actors/approval/PlanAuthors", "who is behind each way to start a plan"],
  "actors/approval/UncertainGround.ts": [
    "actors/approval/UncertainGround",
    "which states and objects a plan does not know"
  ],
  "actors/execution/ReviewedRefs.ts": ["actors/execution/ReviewedRefs", "asks ReviewedRef, then names what is opened"],
  "actors/approval/PlanApproval.ts": ["actors/approval/WaysToApply", "reads the facts of ApprovalDecision"],
  "actors/capsule/CapsuleRelease.ts": ["actors/capsule/Release", "refusals in the order of a release, then its rows"],
  "actors/capsule/CapsulesLive.ts": ["actors/capsule/CapsuleGroups", "reads of one record, and pages"],
  "actors/capsule/ConfigurationPlan.ts": [
    "actors/capsule/InputAuthority",
    "asks VariablePatch and BlueprintPatch, then succeeds"
  ],
  "actors/capsule/FollowedApply.ts": ["actors/approval/WaysToApply", "asks FollowedPlanDecision and Approvals"],
  "actors/capsule/ImportConfirmation.ts": ["actors/adoption/BackupImport", "refusals in the order of a confirmation"],
  "actors/capsule/LeftOverAdoption.ts": ["actors/capsule/LeftOverAdoption", "asks AdoptionProblems, then writes"],
  "actors/capsule/LifecycleCommands.ts": ["actors/capsule/AutoUpdate", "writes what CapsuleSettings decides"],
  "actors/capsule/PlanCommands.ts": ["actors/capsule/Reconcile", "which Run a command makes"],
  "actors/capsule/ReAdoption.ts": [
    "actors/capsule/InputAuthority",
    "asks ReAdoptionProblem and VariableRules, then succeeds"
  ],
  "actors/capsule/ReAdoptionTarget.ts": [
    "actors/configuration/OperatorConfigs",
    "which snapshot is compiled, by OperatorAuthority"
  ],
  "actors/configuration/ModuleVerdicts.ts": ["actors/source/Manifests", "a word for each verdict of the compiler"],
  "actors/configuration/PublicInstallConfig.ts": ["actors/configuration/OperatorConfigs", "a projection"],
  "actors/connection/CredentialTest.ts": ["actors/connection/ConnectionChanges", "asks a Git server"],
  "actors/connection/ConnectionBehavior.ts": [
    "actors/connection/GitOrigins",
    "asks ConnectionRules and ConnectionOrigins"
  ],
  "actors/connection/ConnectionChanges.ts": [
    "actors/connection/ConnectionChanges",
    "one change: values, expiry, use, end"
  ],
  "actors/connection/FinishAuthorization.ts": ["src/http/OAuthAnswers", "refusals in the order of an answer"],
  "actors/connection/StartAuthorization.ts": ["src/http/OAuthHelpers", "refusals before the browser leaves"],
  "actors/connection/TokenRenewal.ts": [
    "actors/connection/RenewedTokens",
    "asks TokenLifetime, and what a fault leaves behind"
  ],
  "actors/capsule-export/ExportContents.ts": [
    "actors/capsule-export/ExportWithTool",
    "which configuration, inputs and provider settings an export has"
  ],
  "actors/capsule-export/ExportFiles.ts": [
    "actors/capsule-export/ExportWithTool",
    "what stays out of an archive, and what is added"
  ],
  "actors/capsule-export/ExportLink.ts": ["actors/capsule-export/CapsuleExports", "whose link it is, and for how long"],
  "actors/connection/TokenRevocation.ts": ["actors/connection/RenewedTokens", "what is given back, and when again"],
  "actors/delivery/InterfaceConsumption.ts": ["actors/Hosting", "one Interface or none, and the binding that stands"],
  "actors/execution/AutomaticObstacle.ts": [
    "actors/source-commands/StoppedLooks",
    "asks FollowedSource and Automation"
  ],
  "actors/execution/CapsuleObstacle.ts": ["actors/execution/StartObstacle", "refusals in the order of a preparation"],
  "actors/execution/RestoreExecution.ts": ["actors/execution/Restore", "refusals of a review and of its restore"],
  "actors/execution/RunMetrics.ts": ["src/observability/AgentMetrics", "which end is counted under which labels"],
  "actors/execution/TakenOverState.ts": [
    "actors/adoption/StateAdoption",
    "what a plan over a state that was taken over says"
  ],
  "actors/execution/RunProfiles.ts": ["actors/configuration/OperatorConfigs", "refusals of a profile and its tool"],
  "actors/run/RunPlaces.ts": ["actors/queue/RunQueue", "builds, runs, or the places of a pool"],
  "actors/staleness/PutBackDrift.ts": ["actors/staleness/ChangeCauseDecision", "which attributes a plan puts back"],
  "actors/execution/RestoreTarget.ts": ["actors/execution/Restore", "refusals of a backup that does not fit"],
  "actors/execution/AppliedLane.ts": ["actors/capsule/LaneFollowing", "which lane an apply adopts"],
  "actors/execution/ApplyConclusion.ts": ["actors/execution/PostApply", "how an apply ends by its checks"],
  "actors/execution/ApplyPreparation.ts": [
    "actors/execution/ApplyRefusals",
    "what is asked again before a tool starts"
  ],
  "actors/execution/CapsuleConnections.ts": [
    "actors/connection/ProviderConnections",
    "which Connections a Capsule names"
  ],
  "actors/execution/ConfigurationFit.ts": [
    "actors/execution/ConfigurationCheck",
    "whether a configuration fits a report"
  ],
  "actors/execution/PostApplyChecks.ts": ["actors/execution/PostApply", "checks one after the other"],
  "actors/execution/ProviderResolutions.ts": [
    "actors/execution/RunPreparation",
    "asks ProviderObstacle, then the rules of use"
  ],
  "actors/execution/RunExecutor.ts": ["actors/queue/RunQueue", "asks QueueDecision, then forks"],
  "actors/execution/RunRecovery.ts": ["actors/execution/Killed", "what an earlier incarnation left"],
  "actors/execution/SyncExecution.ts": ["actors/source-commands/Looks", "what is kept of an automatic sync"],
  "actors/git-fetch/FetchCredentials.ts": ["actors/source-commands/Looks", "asks the rules of use, then reads"],
  "actors/git-fetch/LaneFetch.ts": ["actors/source-commands/Looks", "a code for each failure of Git"],
  "actors/identity/StaticRegistry.ts": [
    "src/accounts/oidc/Configuration",
    "the rules of the clients' file, one refusal each"
  ],
  "actors/identity/TokenIssuance.ts": ["src/accounts/oidc/Mounted", "what a grant gives, by LiveAuthority"],
  "actors/install-plan/InitialCommit.ts": [
    "actors/install-plan/InstallPlans",
    "refusals, then every record of an install"
  ],
  "actors/install-plan/InstallPlanRequest.ts": ["actors/install-plan/InstallPlans", "refusals by field"],
  "actors/install-plan/InstallPlanSteps.ts": [
    "actors/install-plan/InstallPlans",
    "takes the steps of CoordinatorSteps"
  ],
  "actors/interface/InterfaceLedger.ts": ["actors/Hosting", "rows of Interfaces, one writer"],
  "actors/interface/InterfaceMaterialization.ts": ["actors/Hosting", "an intent, its attempts and its end"],
  "actors/paging/RowPages.ts": ["actors/workspace/Workspaces", "the first page or a later one, by Cursors"],
  "actors/restore/RestoreReview.ts": ["src/operator/RestoreReview", "one decision for each record that waits"],
  "actors/revision-plan/RevisionPlanSteps.ts": ["actors/capsule/Authority", "takes the steps of CoordinatorSteps"],
  "actors/run-commands/RunBehavior.ts": [
    "actors/run-commands/RunDecisions",
    "asks ReviewDecisions and Approvals, then moves the Run"
  ],
  "actors/run-commands/RunsLive.ts": ["actors/run-commands/RunDecisions", "reads of one record, and pages"],
  "actors/run-group/GroupMembers.ts": [
    "actors/run-group/Waves",
    "asks WaveDecision, and writes what became of a member"
  ],
  "actors/run-group/UpdateHold.ts": ["actors/capsule/AutomaticRuns", "refusals of a plan for an update"],
  "actors/run-group/RunGroups.ts": ["actors/run-group/Waves", "takes the steps of WaveDecision"],
  "actors/source-commands/SourceBehavior.ts": [
    "actors/source-commands/Looks",
    "asks ScheduledLooks and the rules of Sources"
  ],
  "actors/source-commands/SourceRemoval.ts": [
    "actors/source-commands/FirstSync",
    "who removes a Source, and what keeps it"
  ],
  "actors/source-commands/SourcesLive.ts": [
    "actors/source-commands/Looks",
    "reads of one record, and what a webhook may start"
  ],
  "actors/source/SnapshotReads.ts": ["actors/source/Manifests", "which file of a snapshot is given out"],
  "actors/staleness/DifferingInputs.ts": ["actors/staleness/DifferingInputs", "which inputs differ, and how"],
  "actors/staleness/ChangeCauseReads.ts": [
    "actors/staleness/ChangeCauseReads",
    "what is read of two plans, and when nothing can be compared"
  ],
  "actors/staleness/SourceChangeReads.ts": [
    "actors/staleness/SourceChangeReads",
    "what is compared, and when it cannot be"
  ],
  "actors/staleness/PathFilters.ts": [
    "actors/staleness/PathFilters",
    "which contents are compared, by ModuleFootprint"
  ],
  "actors/state/StateDifferences.ts": ["actors/state/StateResources", "what became of what between two states"],
  "actors/state/StateEntries.ts": ["actors/state/StateResources", "what the index says of a state"],
  "actors/vault/DataKeys.ts": ["actors/vault/Rotation", "a cache of keys, and their age"],
  "actors/workspace/WorkspaceList.ts": ["actors/workspace/Workspaces", "a page and its order"]
}
