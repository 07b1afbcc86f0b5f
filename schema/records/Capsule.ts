import { Schema } from "effect"
import { capsuleStatuses } from "./CapsuleLifecycle.ts"
import { AutoUpdate, AutoUpdateChange } from "./AutoUpdate.ts"
import { CommitDescription } from "./Commit.ts"
import {
  CapsuleId,
  CompatibilityReportId,
  ConnectionId,
  DependencyId,
  InstallConfigId,
  ProjectId,
  RunId,
  SourceId,
  SourceSnapshotId,
  StateVersionId,
  Subject,
  WorkspaceId
} from "./Ids.ts"
import { CapsuleImport } from "./ImportedFrom.ts"
import { CapsuleDriftChecks, DriftCheckPlan } from "./DriftChecks.ts"
import { displayText, Timestamp } from "./Primitives.ts"

export const CapsuleStatus = Schema.Literals(capsuleStatuses)
export type CapsuleStatus = typeof CapsuleStatus.Type

/** The reason for releasing a Capsule, and the fate of its infrastructure. */
export const ReleaseReason = Schema.Literals(["infrastructure_gone", "moved_elsewhere"])
export type ReleaseReason = typeof ReleaseReason.Type

export class CapsuleRelease extends Schema.Opaque<CapsuleRelease>()(
  Schema.Struct({
    at: Timestamp,
    by: Schema.optionalKey(Subject),
    reason: ReleaseReason,
    comment: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "CapsuleRelease" })
) {}

/** `unknown` after an apply that stopped without leaving evidence: the real resources may differ from the state. */
export const RuntimeSafety = Schema.Literals(["safe", "unknown"])
export type RuntimeSafety = typeof RuntimeSafety.Type

export const DriftStatus = Schema.Literals(["unknown", "none", "drifted"])
export type DriftStatus = typeof DriftStatus.Type

/**
 * The reason why a Capsule is stale. Either its lane has a new commit (`sourceSnapshotId`), or a producer now offers different
 * values than at the last apply (`producerCapsuleId`; `output` is the consumer's name for the Output, absent for `remote_state`).
 */
export class StaleReason extends Schema.Opaque<StaleReason>()(
  Schema.Struct({
    /** `restore`: a backup was restored, and no plan made since then has been applied. */
    kind: Schema.Literals(["commit", "input", "restore"]),
    /** The Run that restored the backup. */
    runId: Schema.optionalKey(RunId),
    sourceSnapshotId: Schema.optionalKey(SourceSnapshotId),
    producerCapsuleId: Schema.optionalKey(CapsuleId),
    output: Schema.optionalKey(Schema.String),
    /** Set if the Capsule has a path filter: the change in the commit that affects the module. */
    because: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "StaleReason" })
) {}

export class AdoptedSourceRevision extends Schema.Opaque<AdoptedSourceRevision>()(
  Schema.Struct({
    sourceSnapshotId: SourceSnapshotId,
    ref: Schema.String,
    path: Schema.String,
    resolvedCommit: Schema.String
  }).annotate({ identifier: "AdoptedSourceRevision" })
) {}

/** The reason why a Run of the Capsule could not get a credential, and the people who can fix it. */
export class CredentialWait extends Schema.Opaque<CredentialWait>()(
  Schema.Struct({
    runId: RunId,
    since: Timestamp,
    provider: Schema.String,
    moduleLocalName: Schema.String,
    childAlias: Schema.optionalKey(Schema.String),
    /** The bound Connection, which cannot be used. */
    connectionId: Schema.optionalKey(ConnectionId),
    reason: Schema.String,
    /** The people who can fix the problem: members with at least this role, or the operator of the installation. */
    turn: Schema.Literals(["member", "admin", "operator"]),
    /** The steps that fix the problem. */
    next: Schema.String
  }).annotate({ identifier: "CredentialWait" })
) {}

export class Capsule extends Schema.Opaque<Capsule>()(
  Schema.Struct({
    id: CapsuleId,
    workspaceId: WorkspaceId,
    projectId: ProjectId,
    name: Schema.String,
    slug: Schema.String,
    environment: Schema.String,
    sourceId: SourceId,
    modulePath: Schema.String,
    installConfigId: InstallConfigId,
    /** The report from which the configuration was compiled, if any. */
    compatibilityReportId: Schema.optionalKey(CompatibilityReportId),
    status: CapsuleStatus,
    /** Empty if the Capsule is not stale. A stale Capsule becomes `active` once all its reasons are resolved. */
    staleReasons: Schema.Array(StaleReason),
    runtimeSafety: RuntimeSafety,
    currentStateVersionId: Schema.optionalKey(StateVersionId),
    currentStateGeneration: Schema.Int,
    executionAuthorityEpoch: Schema.Int,
    adoptedSourceRevision: Schema.optionalKey(AdoptedSourceRevision),
    /** Description of the commit `adoptedSourceRevision`. Absent for snapshots from earlier releases. */
    adoptedCommitDescription: Schema.optionalKey(CommitDescription),
    installConfigReAdoption: Schema.Struct({ authorityGuard: Schema.String }),
    autoUpdate: AutoUpdate,
    /** If true, skips commits that change none of the module's files. */
    pathFilter: Schema.Boolean,
    driftStatus: DriftStatus,
    driftCheckedAt: Schema.optionalKey(Timestamp),
    driftChecks: DriftCheckPlan,
    publicEndpoint: Schema.optionalKey(Schema.String),
    /** The reason why the Capsule's lane cannot be fetched; absent while it can be fetched. */
    laneError: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String, since: Timestamp })),
    /** Set while the Capsule's newest Run cannot start because a credential is missing. */
    waitsForCredential: Schema.optionalKey(CredentialWait),
    /** Who released the Capsule, when and why. Set on released Capsules. */
    release: Schema.optionalKey(CapsuleRelease),
    /** Set on a Capsule imported from another installation's backup. */
    import: Schema.optionalKey(CapsuleImport),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "Capsule" })
) {}

/** The settings that people can change on a Capsule. Absent settings remain unchanged. */
export const CapsuleChange = Schema.Struct({
  name: Schema.optionalKey(displayText(80)),
  autoUpdate: Schema.optionalKey(AutoUpdateChange),
  pathFilter: Schema.optionalKey(Schema.Boolean),
  driftChecks: Schema.optionalKey(CapsuleDriftChecks),
  status: Schema.optionalKey(Schema.Literals(["active", "disabled"]))
})
export type CapsuleChange = typeof CapsuleChange.Type

export const DependencyMode = Schema.Literals(["variable_injection", "published_output", "remote_state"])
export const DependencyOutput = Schema.Struct({ from: Schema.String, to: Schema.String, required: Schema.Boolean })

/** Declares that a Capsule receives a value from another Capsule. */
export class NewDependency extends Schema.Opaque<NewDependency>()(
  Schema.Struct({
    producerCapsuleId: CapsuleId,
    mode: DependencyMode,
    outputs: Schema.Array(DependencyOutput).check(Schema.isMaxLength(64))
  }).annotate({ identifier: "NewDependency" })
) {}

export class Dependency extends Schema.Opaque<Dependency>()(
  Schema.Struct({
    id: DependencyId,
    workspaceId: WorkspaceId,
    producerCapsuleId: CapsuleId,
    consumerCapsuleId: CapsuleId,
    mode: DependencyMode,
    outputs: Schema.Array(DependencyOutput),
    createdAt: Timestamp
  }).annotate({ identifier: "Dependency" })
) {}
