import { Schema, Struct } from "effect"
import {
  AgentId,
  CapsuleId,
  CompatibilityReportId,
  ConnectionId,
  InstallConfigId,
  PullRequestId,
  RevisionPlanId,
  RunGroupId,
  RunId,
  SourceId,
  SourceSnapshotId,
  StateVersionId,
  Subject,
  WorkspaceId
} from "./Ids.ts"
import { CarriedFrom } from "./CarryOver.ts"
import { InputChange } from "./ChangeEvidence.ts"
import { CommitDescription } from "./Commit.ts"
import { OpenedForRef } from "./OpenedForRef.ts"
import { SourceBuild as SourceBuildDeclaration } from "../manifest/SourceBuildDeclaration.ts"
import { RunNetwork } from "./RunConfinement.ts"
import { UncertainCode } from "./UncertainGround.ts"
import { Timestamp } from "./Primitives.ts"
import { ProviderResolution } from "./Provider.ts"
import { QueuePlace } from "./QueuePlace.ts"
import { PlanBase } from "./PlanBase.ts"
import { PlanDetails, planDetailNames, PlanSummary } from "./PlanDetails.ts"
import { RunAgent } from "./RunAgent.ts"
import { runDecisions } from "./RunDecision.ts"
import { RestoreEvidence } from "./RestoreEvidence.ts"

export const RunType = Schema.Literals([
  "source_sync",
  "compatibility_check",
  "plan",
  "apply",
  "destroy_plan",
  "destroy_apply",
  "drift_check",
  "backup",
  "restore"
])
export type RunType = typeof RunType.Type

export const RunStatus = Schema.Literals([
  "queued",
  "running",
  "waiting_approval",
  "succeeded",
  "failed",
  "cancelled",
  "superseded",
  "expired"
])
export type RunStatus = typeof RunStatus.Type

/** The trigger that started a Run. */
export const RunTrigger = Schema.Literals(["user", "webhook", "schedule", "auto_update", "service"])
export type RunTrigger = typeof RunTrigger.Type

/**
 * The reason why a plan does not use the newest commit of the lane. `rollback`: plans the revision and configuration of an
 * earlier StateVersion. `reconcile`: reverts drift at the deployed revision. `accept_drift`: records drift in the state.
 */
export const PlanPurpose = Schema.Literals(["rollback", "reconcile", "accept_drift"])
export type PlanPurpose = typeof PlanPurpose.Type

/**
 * The purpose of a plan that only shows what a ref would change. The public record contains the field `speculative` instead.
 */
export const RecordedPurpose = Schema.Literals([...PlanPurpose.literals, "speculative"])
export type RecordedPurpose = typeof RecordedPurpose.Type

/**
 * Kinds of Runs that may change infrastructure, or read it to prepare a change. A Capsule has at most one active Run of
 * these kinds.
 */
export const capsuleExclusiveTypes: ReadonlyArray<RunType> = [
  "plan",
  "apply",
  "destroy_plan",
  "destroy_apply",
  "drift_check",
  "restore"
]

export class RunDiagnostic extends Schema.Opaque<RunDiagnostic>()(
  Schema.Struct({
    severity: Schema.Literals(["error", "warning"]),
    summary: Schema.String,
    detail: Schema.optionalKey(Schema.String),
    address: Schema.optionalKey(Schema.String),
    path: Schema.optionalKey(Schema.String),
    line: Schema.optionalKey(Schema.Int),
    /**
     * The code of the uncertainty that an approval must acknowledge. Set only if objects may exist that the plan does not
     * include.
     */
    code: Schema.optionalKey(UncertainCode)
  }).annotate({ identifier: "RunDiagnostic" })
) {}

/** Levels of isolation between a Run and the machine, strongest first. `process` means no isolation. */
export const SandboxLevel = Schema.Literals([
  "bubblewrap",
  "namespaces",
  "user_landlock",
  "landlock",
  "seatbelt",
  "process"
])
export type SandboxLevel = typeof SandboxLevel.Type

/**
 * Also accepts the level `user`, which earlier releases recorded for Runs that had their own user but no other isolation.
 */
export const RecordedSandboxLevel = Schema.Literals([...SandboxLevel.literals, "user"])
export type RecordedSandboxLevel = typeof RecordedSandboxLevel.Type

/** The level at which a Run's module is isolated from the machine, and the network that it can reach. */
export interface RunConfinement {
  readonly isolation: SandboxLevel
  readonly network: RunNetwork
}

export class ToolIdentity extends Schema.Opaque<ToolIdentity>()(
  Schema.Struct({ name: Schema.Literals(["opentofu", "terraform"]), version: Schema.String })
) {}

/** A source build, with the same structure and rules whether it is declared in a manifest or elsewhere. */
export const SourceBuild = SourceBuildDeclaration.annotate({ identifier: "SourceBuild" })
export type SourceBuild = typeof SourceBuild.Type

/** The result of a check after an apply. `reason` describes the response without quoting it. */
export class PostApplyResult extends Schema.Opaque<PostApplyResult>()(
  Schema.Struct({
    name: Schema.String,
    status: Schema.Literals(["passed", "failed", "not_run"]),
    attempts: Schema.Int,
    reason: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "PostApplyResult" })
) {}

/** A check after the apply that the operator requires. Shown to reviewers of the plan. */
export class PlannedCheck extends Schema.Opaque<PlannedCheck>()(
  Schema.Struct({
    name: Schema.String,
    /** `the endpoint`, or `the Output NAME`. */
    target: Schema.String,
    path: Schema.optionalKey(Schema.String),
    status: Schema.Array(Schema.Int),
    timeoutSeconds: Schema.Int
  }).annotate({ identifier: "PlannedCheck" })
) {}

/** The operator's base configuration as it applies to a Run. */
export class OperatorEvidence extends Schema.Opaque<OperatorEvidence>()(
  Schema.Struct({
    digest: Schema.String,
    name: Schema.optionalKey(Schema.String),
    /** Inputs whose values the operator sets. */
    variables: Schema.Array(Schema.String),
    postApply: Schema.Array(PlannedCheck)
  }).annotate({ identifier: "OperatorEvidence" })
) {}

/**
 * URLs that the apply registers with the identity provider, so that people can be redirected to the Capsule's application after
 * signing in. Shown to reviewers of the plan.
 */
export class PlannedSignIn extends Schema.Opaque<PlannedSignIn>()(
  Schema.Struct({
    redirectUri: Schema.String,
    /** The pages to which people are redirected after signing out: the origin, and the operator's `postLogoutPaths` on it. */
    postLogoutRedirectUris: Schema.Array(Schema.String)
  }).annotate({ identifier: "PlannedSignIn" })
) {}

/** An input whose value comes from a dependency, and the kind of change since the last apply. */
export class InjectedInput extends Schema.Opaque<InjectedInput>()(
  Schema.Struct({
    input: Schema.String,
    producerCapsuleId: Schema.optionalKey(CapsuleId),
    change: Schema.Literals(["added", "changed", "removed"])
  }).annotate({ identifier: "InjectedInput" })
) {}

/** A commit on the Capsule's lane that is newer than the deployed commit. The Run uses the deployed commit. */
export class NewerCommit extends Schema.Opaque<NewerCommit>()(
  Schema.Struct({
    ref: Schema.String,
    sourceSnapshotId: SourceSnapshotId,
    resolvedCommit: Schema.String
  }).annotate({ identifier: "NewerCommit" })
) {}

/** Evidence of a finished phase, for reviewers. Every field is redacted before it is stored. */
export class RunEvidence extends Schema.Opaque<RunEvidence>()(
  Schema.Struct({
    planSummary: Schema.optionalKey(PlanSummary),
    ...PlanDetails.fields,
    providerResolutions: Schema.optionalKey(Schema.Array(ProviderResolution)),
    diagnostics: Schema.optionalKey(Schema.Array(RunDiagnostic)),
    /** Addresses that an interrupted apply started to change and never reported as finished. */
    possiblyCreated: Schema.optionalKey(Schema.Array(Schema.String)),
    tool: Schema.optionalKey(ToolIdentity),
    providerLockDigest: Schema.optionalKey(Schema.String),
    sourceBuild: Schema.optionalKey(SourceBuild),
    /** The effect of the operator's base configuration on this Run. */
    operatorConfig: Schema.optionalKey(OperatorEvidence),
    /**
     * Private data that code of an unreviewed ref received, and the person who started the Run. Set only for plans and drift
     * checks of such a ref.
     */
    openedForRef: Schema.optionalKey(OpenedForRef),
    /** A newer commit of the lane. Set only for drift checks and destroys, which use the deployed commit. */
    newerCommit: Schema.optionalKey(NewerCommit),
    /** The lane into which the planned ref would be merged. Set only for plans of a ref other than the Capsule's lane. */
    base: Schema.optionalKey(PlanBase),
    /** Set only for plans of a Capsule whose application lets people sign in. */
    signIn: Schema.optionalKey(PlannedSignIn),
    /** The results of the operator's checks. Set only for applies. */
    postApply: Schema.optionalKey(Schema.Array(PostApplyResult)),
    /**
     * Inputs from other Capsules whose values differ from those at the last apply. Values are not recorded. Set only for
     * plans.
     */
    injectedInputs: Schema.optionalKey(Schema.Array(InjectedInput)),
    /**
     * Configured inputs whose values differ from those at the last apply. Values are not recorded. Set only for plans of a
     * Capsule that has been applied before.
     */
    changedInputs: Schema.optionalKey(Schema.Array(InputChange)),
    /** Set only for the Capsule's first plan on a state that none of its applies committed. */
    adopts: Schema.optionalKey(Schema.Literals(["upload", "left_over"])),
    /** Set if svc carried approvals of the same change in a speculative plan over to this plan. */
    carriedFrom: Schema.optionalKey(CarriedFrom),
    /** The changes that restoring the backup makes. Set only for restores. */
    restore: Schema.optionalKey(RestoreEvidence),
    /** True if the real infrastructure differs from the state. Set only for drift checks. */
    drifted: Schema.optionalKey(Schema.Boolean),
    /** Number of resources that differ. Set only for drift checks and for plans that accept drift. */
    driftedResources: Schema.optionalKey(Schema.Int)
  })
) {}

export class Run extends Schema.Opaque<Run>()(
  Schema.Struct({
    id: RunId,
    workspaceId: WorkspaceId,
    type: RunType,
    status: RunStatus,
    capsuleId: Schema.optionalKey(CapsuleId),
    sourceId: Schema.optionalKey(SourceId),
    planRunId: Schema.optionalKey(RunId),
    runGroupId: Schema.optionalKey(RunGroupId),
    /** The revision plan that requested this Run. */
    revisionPlanId: Schema.optionalKey(RevisionPlanId),
    sourceSnapshotId: Schema.optionalKey(SourceSnapshotId),
    resolvedCommit: Schema.optionalKey(Schema.String),
    /** Present in responses for a single Run, a list of Runs or a group. */
    commitDescription: Schema.optionalKey(CommitDescription),
    compatibilityReportId: Schema.optionalKey(CompatibilityReportId),
    installConfigId: Schema.optionalKey(InstallConfigId),
    executionAuthorityEpoch: Schema.optionalKey(Schema.Int),
    baseStateGeneration: Schema.optionalKey(Schema.Int),
    planDigest: Schema.optionalKey(Schema.String),
    /**
     * Digest of the change in the plan. Plans of one Capsule with equal digests would change the same objects in the same
     * way. The digest is keyed, so it reveals nothing about the values.
     */
    changeDigest: Schema.optionalKey(Schema.String),
    ...RunEvidence.fields,
    /**
     * The isolation of module code from the machine, and the network that the code can reach. Recorded when the Run starts
     * to execute a module.
     */
    isolation: Schema.optionalKey(RecordedSandboxLevel),
    network: Schema.optionalKey(RunNetwork),
    /**
     * The execution profile and its digest at the start of the Run. An apply requires the same profile and digest as its plan.
     */
    profile: Schema.optionalKey(Schema.String),
    profileDigest: Schema.optionalKey(Schema.String),
    /** The pool of agents that executes the Run; absent for Runs on the control plane. */
    pool: Schema.optionalKey(Schema.String),
    /** The agent that is executing the Run. */
    agentId: Schema.optionalKey(AgentId),
    /**
     * Time of the agent's last contact. After a minute without contact, svc gives up a plan; it gives up an apply when the
     * lease expires.
     */
    agentUnreachableSince: Schema.optionalKey(Timestamp),
    /** Present in responses for a single Run that an agent is executing. */
    agent: Schema.optionalKey(RunAgent),
    requiresApproval: Schema.Boolean,
    approvedBy: Schema.optionalKey(Subject),
    approvedAt: Schema.optionalKey(Timestamp),
    /** The approver's comment. */
    approvalComment: Schema.optionalKey(Schema.String),
    ...runDecisions,
    createdBy: Schema.optionalKey(Schema.String),
    trigger: RunTrigger,
    /** Set on plans and their applies. */
    purpose: Schema.optionalKey(PlanPurpose),
    /** Set on a plan that accepts drift, and on its apply. Such a plan changes the state but no object. */
    refreshOnly: Schema.optionalKey(Schema.Literal(true)),
    /**
     * Set on a plan that only shows what a ref would change. It cannot be approved or applied, and does not affect its Capsule.
     */
    speculative: Schema.optionalKey(Schema.Literal(true)),
    /** The pull request whose head this speculative plan uses. */
    pullRequestId: Schema.optionalKey(PullRequestId),
    attempt: Schema.Int,
    /** For a queued Run: its position, and the reason why it is waiting. */
    queue: Schema.optionalKey(QueuePlace),
    error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String })),
    stateVersionId: Schema.optionalKey(StateVersionId),
    connectionId: Schema.optionalKey(ConnectionId),
    createdAt: Timestamp,
    queuedAt: Timestamp,
    startedAt: Schema.optionalKey(Timestamp),
    finishedAt: Schema.optionalKey(Timestamp),
    expiresAt: Schema.optionalKey(Timestamp),
    /** Time at which retention removed the log. */
    logRemovedAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "Run" })
) {}

/** A Run in a list. Only the response for a single Run includes its plan details. */
export class ListedRun extends Schema.Opaque<ListedRun>()(
  Schema.Struct(Struct.omit(Run.fields, planDetailNames)).annotate({
    identifier: "ListedRun"
  })
) {}

/** A Capsule's newest Run, as shown in lists of Capsules. */
export class LatestRun extends Schema.Opaque<LatestRun>()(
  Schema.Struct({
    capsuleId: CapsuleId,
    runId: RunId,
    type: RunType,
    status: RunStatus,
    approvedAt: Schema.optionalKey(Timestamp),
    createdAt: Timestamp,
    finishedAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "LatestRun" })
) {}

/** A Run that is part of a change: a sync or check before the plan, a plan that it replaced, or its apply. */
export class FoldedRun extends Schema.Opaque<FoldedRun>()(
  Schema.Struct({
    /** The plan of the change. */
    planRunId: RunId,
    id: RunId,
    type: RunType,
    status: RunStatus,
    createdBy: Schema.optionalKey(Schema.String),
    trigger: RunTrigger,
    createdAt: Timestamp,
    startedAt: Schema.optionalKey(Timestamp),
    finishedAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "FoldedRun" })
) {}
