/**
 * Files in `actors/` that contain branches although no test imports these files. The decisions are in tested pure functions;
 * these files only call those functions in order and write the results. Each file is listed with the tests that run the file
 * through its actor, and with the values on which the file branches.
 */
export const drivenActors: Readonly<Record<string, readonly [tests: string | ReadonlyArray<string>, why: string]>> = {
  "actors/access/account/NewPasskeys.ts": [
    "e2e/PasskeyAttacks",
    "refuses what the library does not verify, and long ids"
  ],
  "actors/base/notice/NoticeAddress.ts": ["src/http/Notices", "the network policy of the Git addresses"],
  "actors/ledger/capsule/CapsuleNotices.ts": ["actors/ledger/run/RunNotices", "compares a row with its change"],
  "actors/ledger/run/RunNotices.ts": ["actors/ledger/run/RunNotices", "one kind of notice for each move of a Run"],
  "actors/commands/adoption/SealedBackupFile.ts": [
    "actors/commands/adoption/BackupImport",
    "refusals in the order of opening a file"
  ],
  "actors/commands/adoption/StateAdoption.ts": [
    "actors/commands/adoption/StateAdoption",
    "asks StateConflicts and ModuleMismatch"
  ],
  "actors/running/agent/JobSecrets.ts": [
    "src/http/agent/AgentRuns",
    "what each kind of job carries, and what travels beside it"
  ],
  "actors/access/approval/PlanAuthors.ts": [
    "actors/access/approval/PlanAuthors",
    "who is behind each way to start a plan"
  ],
  "actors/access/approval/ApprovalRequests.ts": [
    "actors/commands/attention/AttentionTurns",
    "asks PlanApproval for everybody, once an hour"
  ],
  "actors/access/approval/UncertainGround.ts": [
    "actors/access/approval/UncertainGround",
    "which states and objects a plan does not know"
  ],
  "actors/running/execution/ReviewedRefs.ts": [
    "actors/running/execution/ReviewedRefs",
    "asks ReviewedRef, then names what is opened"
  ],
  "actors/commands/capsule/CapsuleActor.ts": [
    ["actors/commands/capsule/Release", "actors/commands/adoption/BackupImport"],
    "refusals in the order of a release, then its rows; refusals in the order of a confirmation"
  ],
  "actors/commands/capsule/SpeculativePlans.ts": [
    "actors/commands/capsule/PullRequestPlans",
    "once per commit, refusals before anything is written, and the end of older plans"
  ],
  "actors/commands/revision-plan/RevisionPlanActor.ts": [
    "actors/commands/capsule/SpeculativePlans",
    "passes `speculative` on; ReviewedRefs.test.ts has the refusals of a request"
  ],
  "actors/commands/revision-plan/RevisionPlanStore.ts": [
    "actors/commands/capsule/SpeculativePlans",
    "the outcome of the plan, and absent fields of the record"
  ],
  "actors/commands/capsule/CapsulesLive.ts": [
    "actors/commands/capsule/CapsuleGroups",
    "reads of one record, and pages"
  ],
  "actors/commands/capsule/ConfigurationPlan.ts": [
    "actors/commands/capsule/InputAuthority",
    "asks VariablePatch and BlueprintPatch, then succeeds"
  ],
  "actors/commands/capsule/FollowedApply.ts": [
    "actors/access/approval/WaysToApply",
    "asks FollowedPlanDecision and Approvals"
  ],
  "actors/commands/capsule/OrphanedStateAdoption.ts": [
    "actors/commands/capsule/OrphanedStateAdoption",
    "asks AdoptionProblems, then writes"
  ],
  "actors/commands/capsule/LifecycleCommands.ts": [
    "actors/commands/capsule/AutoUpdate",
    "writes what CapsuleSettings decides"
  ],
  "actors/commands/capsule/PlanCommands.ts": ["actors/commands/capsule/Reconcile", "which Run a command makes"],
  "actors/commands/capsule/ReAdoption.ts": [
    "actors/commands/capsule/InputAuthority",
    "asks ReAdoptionProblem and VariableRules, then succeeds"
  ],
  "actors/ledger/configuration/ModuleVerdicts.ts": [
    "actors/ledger/source/Manifests",
    "a word for each verdict of the compiler"
  ],
  "actors/ledger/configuration/PublicInstallConfig.ts": ["actors/ledger/configuration/OperatorConfigs", "a projection"],
  "actors/inputs/connection/CredentialTest.ts": ["actors/inputs/connection/ConnectionChanges", "asks a Git server"],
  "actors/inputs/connection/ConnectionsLive.ts": [
    "src/http/GitHubApps",
    "which registration of a GitHub App a browser has started"
  ],
  "actors/inputs/connection/ConnectionActor.ts": [
    ["actors/inputs/connection/GitOrigins", "src/http/GitHubApps", "actors/inputs/connection/RenewedTokens"],
    "asks ConnectionRules and ConnectionOrigins; refusals in the order of an answer; asks TokenLifetime, and what a fault leaves behind; what is given back, and when again"
  ],
  "actors/inputs/connection/ConnectionChanges.ts": [
    "actors/inputs/connection/ConnectionChanges",
    "one change: values, expiry, use, end"
  ],
  "actors/inputs/connection/FinishAuthorization.ts": ["src/http/OAuthAnswers", "refusals in the order of an answer"],
  "actors/inputs/connection/StartAppRegistration.ts": ["src/http/GitHubApps", "refused before the browser leaves"],
  "actors/inputs/connection/StartAuthorization.ts": ["src/http/OAuthHelpers", "refusals before the browser leaves"],
  "actors/commands/capsule-export/ExportContents.ts": [
    "actors/commands/capsule-export/ExportWithTool",
    "which configuration, inputs and provider settings an export has"
  ],
  "actors/inputs/delivery/InterfaceConsumption.ts": [
    "actors/Hosting",
    "one Interface or none, and the binding that stands"
  ],
  "actors/running/execution/AutomaticObstacle.ts": [
    "actors/commands/source/StoppedLooks",
    "asks FollowedSource and Automation"
  ],
  "actors/running/execution/CapsuleObstacle.ts": [
    "actors/running/execution/StartObstacle",
    "refusals in the order of a preparation"
  ],
  "actors/running/execution/RestoreExecution.ts": [
    "actors/running/execution/Restore",
    "refusals of a review and of its restore"
  ],
  "actors/running/execution/RunMetrics.ts": [
    "src/observability/AgentMetrics",
    "which end is counted under which labels"
  ],
  "actors/running/execution/AdoptedState.ts": [
    "actors/commands/adoption/StateAdoption",
    "what a plan over a state that was taken over says"
  ],
  "actors/running/execution/RestoreTarget.ts": [
    "actors/running/execution/Restore",
    "refusals of a backup that does not fit"
  ],
  "actors/running/execution/ApplyConclusion.ts": [
    "actors/running/execution/PostApply",
    "how an apply ends by its checks"
  ],
  "actors/running/execution/PlanExecution.ts": [
    "actors/running/execution/RunPreparation",
    "which inputs a plan receives"
  ],
  "actors/running/execution/CapsuleConnections.ts": [
    "actors/inputs/connection/ProviderConnections",
    "which Connections a Capsule names"
  ],
  "actors/running/execution/PostApplyChecks.ts": ["actors/running/execution/PostApply", "checks one after the other"],
  "actors/running/execution/ProviderResolutions.ts": [
    "actors/running/execution/RunPreparation",
    "asks ProviderObstacle, then the rules of use"
  ],
  "actors/running/execution/RunExecutor.ts": ["actors/running/queue/RunQueue", "asks QueueDecision, then forks"],
  "actors/running/execution/RunRecovery.ts": ["actors/running/execution/Killed", "what an earlier incarnation left"],
  "actors/running/execution/SyncExecution.ts": ["actors/commands/source/Looks", "what is kept of an automatic sync"],
  "actors/inputs/git/FetchCredentials.ts": ["actors/commands/source/Looks", "asks the rules of use, then reads"],
  "actors/inputs/git/LaneFetch.ts": ["actors/commands/source/Looks", "a code for each failure of Git"],
  "actors/access/issuer/StaticRegistry.ts": [
    "src/accounts/oidc/Configuration",
    "the rules of the clients' file, one refusal each"
  ],
  "actors/access/issuer/TokenIssuance.ts": ["src/accounts/oidc/Mounted", "what a grant gives, by LiveAuthority"],
  "actors/commands/install-plan/InitialCommit.ts": [
    "actors/commands/install-plan/InstallPlans",
    "refusals, then every record of an install"
  ],
  "actors/commands/install-plan/InstallPlanRequest.ts": [
    "actors/commands/install-plan/InstallPlans",
    "refusals by field"
  ],
  "actors/commands/install-plan/InstallPlanSteps.ts": [
    "actors/commands/install-plan/InstallPlans",
    "takes the steps of CoordinatorSteps"
  ],
  "actors/ledger/interface/InterfaceLedger.ts": ["actors/Hosting", "rows of Interfaces, one writer"],
  "actors/ledger/interface/InterfaceMaterialization.ts": ["actors/Hosting", "an intent, its attempts and its end"],
  "actors/base/paging/RowPages.ts": ["actors/ledger/workspace/Workspaces", "the first page or a later one, by Cursors"],
  "actors/upkeep/restore/RestoreReview.ts": ["src/operator/RestoreReview", "one decision for each record that waits"],
  "actors/commands/revision-plan/RevisionPlanSteps.ts": [
    "actors/commands/capsule/Authority",
    "takes the steps of CoordinatorSteps"
  ],
  "actors/commands/run/RunActor.ts": [
    "actors/commands/run/RunDecisions",
    "asks ReviewDecisions and Approvals, then moves the Run"
  ],
  "actors/commands/run/RunsLive.ts": ["actors/commands/run/RunDecisions", "reads of one record, and pages"],
  "actors/running/run-group/GroupMembers.ts": [
    "actors/running/run-group/Waves",
    "asks WaveDecision, and writes what became of a member"
  ],
  "actors/running/run-group/UpdateHold.ts": [
    "actors/commands/capsule/AutomaticRuns",
    "refusals of a plan for an update"
  ],
  "actors/commands/source/SourceActor.ts": [
    ["actors/commands/source/Looks", "actors/commands/source/FirstSync"],
    "asks ScheduledLooks and the rules of Sources; who removes a Source, and what keeps it"
  ],
  "actors/commands/source/SourcesLive.ts": [
    "actors/commands/source/Looks",
    "reads of one record, and what a webhook may start"
  ],
  "actors/ledger/source/SnapshotReads.ts": ["actors/ledger/source/Manifests", "which file of a snapshot is given out"],
  "actors/ledger/staleness/DifferingInputs.ts": [
    "actors/ledger/staleness/DifferingInputs",
    "which inputs differ, and how"
  ],
  "actors/ledger/staleness/ChangeCauseReads.ts": [
    "actors/ledger/staleness/ChangeCauseReads",
    "what is read of two plans, and when nothing can be compared"
  ],
  "actors/ledger/staleness/SourceChangeReads.ts": [
    "actors/ledger/staleness/SourceChangeReads",
    "what is compared, and when it cannot be"
  ],
  "actors/ledger/staleness/PathFilters.ts": [
    "actors/ledger/staleness/PathFilters",
    "which contents are compared, by ModuleFootprint"
  ],
  "actors/ledger/state/StateDifferences.ts": [
    "actors/ledger/state/StateResources",
    "what became of what between two states"
  ],
  "actors/base/vault/DataKeys.ts": ["actors/base/vault/Rotation", "a cache of keys, and their age"],
  "actors/ledger/archive/SharedArchives.ts": [
    "src/composition/SharedStores",
    "reads a row only if the file is not on this server's disk"
  ],
  "actors/ledger/pull-request-report/CapsuleProgress.ts": [
    "actors/commands/pull-request-report/PullRequestReporter",
    "chooses the plan after the merge or the speculative plan, and gives CapsuleVerdict their facts"
  ],
  "actors/commands/pull-request/HeadPlans.ts": [
    "actors/commands/pull-request/HeadPlans",
    "which Capsules a head touches, what the rule allows, and how many plans may wait"
  ],
  "actors/commands/pull-request/PullRequestJudgement.ts": [
    "actors/commands/pull-request/HostileFork",
    "what a head may get: nothing, a static review, or plans"
  ],
  "actors/commands/pull-request/MergedPlans.ts": [
    "actors/commands/pull-request/MergedPlans",
    "a merge that svc sees after the lane's plan"
  ],
  "actors/commands/pull-request/PullRequestLooks.ts": [
    "actors/commands/pull-request/PullRequestLooks",
    "when a look is due, and what it changes"
  ],
  "actors/commands/pull-request/PullRequestSteps.ts": [
    "actors/commands/pull-request/HeadPlans",
    "what follows from a moved head, a closed pull request and a stricter rule"
  ],
  "actors/ledger/pull-request/BaseLane.ts": [
    "actors/commands/pull-request/HeadPlans",
    "the base commit that a head is compared with"
  ],
  "actors/running/carry-over/CarryOver.ts": [
    "actors/running/carry-over/CarryOver",
    "which approved changes a plan is compared with; the comparison is CarryOverDecision"
  ]
}
