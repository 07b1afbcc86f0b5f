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

/** The fate of a released Capsule's infrastructure. */
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

/** `unknown` after an apply that stopped without evidence: real resources may differ from the state. */
export const RuntimeSafety = Schema.Literals(["safe", "unknown"])
export type RuntimeSafety = typeof RuntimeSafety.Type

export const DriftStatus = Schema.Literals(["unknown", "none", "drifted"])
export type DriftStatus = typeof DriftStatus.Type

/**
 * The reason why a Capsule is stale: its lane is at another commit (`sourceSnapshotId`), or its producer now offers other values
 * than those of the last apply (`producerCapsuleId`; `output` is the name under which the Capsule consumes it, absent for
 * `remote_state`).
 */
export class StaleReason extends Schema.Opaque<StaleReason>()(
  Schema.Struct({
    /** `restore`: a backup has been restored, and no plan created from it has been applied since. */
    kind: Schema.Literals(["commit", "input", "restore"]),
    /** The Run that restored the backup. */
    runId: Schema.optionalKey(RunId),
    sourceSnapshotId: Schema.optionalKey(SourceSnapshotId),
    producerCapsuleId: Schema.optionalKey(CapsuleId),
    output: Schema.optionalKey(Schema.String),
    /** With a path filter: the part of the commit that counts as a change to the module. */
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

/** The reason why a Run of the Capsule could not get a credential, and the person who can change that. */
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
    /** The person who can resolve it: the holder of a Workspace role (the lowest that suffices), or the operator of the service. */
    turn: Schema.Literals(["member", "admin", "operator"]),
    /** The action that resolves it. */
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
    /** The report that the configuration was compiled with. Absent if there was none. */
    compatibilityReportId: Schema.optionalKey(CompatibilityReportId),
    status: CapsuleStatus,
    /** A stale Capsule with no reasons left becomes `active`. */
    staleReasons: Schema.Array(StaleReason),
    runtimeSafety: RuntimeSafety,
    currentStateVersionId: Schema.optionalKey(StateVersionId),
    currentStateGeneration: Schema.Int,
    executionAuthorityEpoch: Schema.Int,
    adoptedSourceRevision: Schema.optionalKey(AdoptedSourceRevision),
    /** Describes the commit of `adoptedSourceRevision`. Absent for snapshots of earlier releases. */
    adoptedCommitDescription: Schema.optionalKey(CommitDescription),
    installConfigReAdoption: Schema.Struct({ authorityGuard: Schema.String }),
    autoUpdate: AutoUpdate,
    /** Skips commits that touch nothing in the module's graph. */
    pathFilter: Schema.Boolean,
    driftStatus: DriftStatus,
    driftCheckedAt: Schema.optionalKey(Timestamp),
    driftChecks: DriftCheckPlan,
    publicEndpoint: Schema.optionalKey(Schema.String),
    /** The error of the ref and path that the Capsule follows; absent while they can be fetched. */
    laneError: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String, since: Timestamp })),
    /** Present while the Capsule's newest Run is refused for lack of a credential. */
    waitsForCredential: Schema.optionalKey(CredentialWait),
    /** With status `released`: the person who released the Capsule, the time and the reason. */
    release: Schema.optionalKey(CapsuleRelease),
    /** For a Capsule imported from another installation's backup. */
    import: Schema.optionalKey(CapsuleImport),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "Capsule" })
) {}

/** The settings of a Capsule that a person changes; absent settings stay as they are. */
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

/** A value that a Capsule is to receive from another Capsule. */
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
