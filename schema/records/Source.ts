import { Schema } from "effect"
import { CommitDescription } from "./Commit.ts"
import { ConnectionId, RunId, SourceId, SourceSnapshotId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** `observe` (default) may start an auto-update evaluation of opted-in Capsules; `manual_plan` never does. */
export const SyncIntent = Schema.Literals(["observe", "manual_plan"])
export type SyncIntent = typeof SyncIntent.Type

/** The result of checking one ref and path of a Source: its default lane, and each lane that a Capsule has adopted. */
export class SourceLane extends Schema.Opaque<SourceLane>()(
  Schema.Struct({
    ref: Schema.String,
    path: Schema.String,
    /** The ref's commit at the last successful check. */
    commit: Schema.optionalKey(Schema.String),
    commitDescription: Schema.optionalKey(CommitDescription),
    sourceSnapshotId: Schema.optionalKey(SourceSnapshotId),
    lastLookAt: Schema.optionalKey(Timestamp),
    lastChangeAt: Schema.optionalKey(Timestamp),
    /** The error of the last check; absent after a success. */
    error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String, since: Timestamp })),
    /** The time of the next scheduled check; absent if `autoSync` is off. */
    nextLookAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "SourceLane" })
) {}

export class Source extends Schema.Opaque<Source>()(
  Schema.Struct({
    id: SourceId,
    workspaceId: WorkspaceId,
    name: Schema.String,
    url: Schema.String,
    defaultRef: Schema.String,
    defaultPath: Schema.String,
    /**
     * Refs other than the default and the adopted lanes whose plans may open private inputs and state, no matter who starts them;
     * set by owners and admins.
     */
    reviewedRefs: Schema.Array(Schema.String),
    authConnectionId: Schema.optionalKey(ConnectionId),
    autoSync: Schema.Boolean,
    status: Schema.Literals(["active", "disabled", "error"]),
    lastSyncedAt: Schema.optionalKey(Timestamp),
    /** The version of the valid webhook secret: initially 1, incremented by every renewal. */
    hookSecretVersion: Schema.Int,
    /** The time at which that secret became valid. */
    hookSecretCreatedAt: Timestamp,
    /** The default lane comes first. Present only in responses for a single Source; lists omit it. */
    lanes: Schema.optionalKey(Schema.Array(SourceLane)),
    /**
     * The time at which the Source was removed. It remains readable for the records that originate from it, but no longer starts
     * anything.
     */
    removedAt: Schema.optionalKey(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "Source" })
) {}

export const OmittedSnapshotEntry = Schema.Struct({
  path: Schema.String,
  kind: Schema.Literals(["symlink", "submodule", "special"])
})

/** The result of reading `.well-known/svc.json` in the repository root during a sync. The document itself is never returned. */
export class RepositoryManifestStatus extends Schema.Opaque<RepositoryManifestStatus>()(
  Schema.Struct({
    status: Schema.Literals(["absent", "valid", "invalid"]),
    digest: Schema.optionalKey(Schema.String),
    apiVersion: Schema.optionalKey(Schema.String),
    reason: Schema.optionalKey(Schema.String),
    /** The edition of the rules that validated it; a newer edition validates it again. */
    rulesVersion: Schema.optionalKey(Schema.Int)
  })
) {}

export class SourceSnapshot extends Schema.Opaque<SourceSnapshot>()(
  Schema.Struct({
    id: SourceSnapshotId,
    workspaceId: WorkspaceId,
    sourceId: SourceId,
    url: Schema.String,
    ref: Schema.String,
    resolvedCommit: Schema.String,
    commitDescription: Schema.optionalKey(CommitDescription),
    path: Schema.String,
    archiveDigest: Schema.String,
    /** Size of the uncompressed archive, in bytes. */
    archiveSizeBytes: Schema.Int,
    fileCount: Schema.Int,
    omitted: Schema.Array(OmittedSnapshotEntry),
    repositoryManifest: RepositoryManifestStatus,
    createdByRunId: RunId,
    createdAt: Timestamp
  }).annotate({ identifier: "SourceSnapshot" })
) {}

/** The content of one file in a snapshot (specification, ruling 3). */
export class SnapshotFile extends Schema.Opaque<SnapshotFile>()(
  Schema.Struct({
    kind: Schema.Literal("svc.source-snapshot-file@v1"),
    sourceSnapshotId: SourceSnapshotId,
    path: Schema.String,
    text: Schema.String,
    digest: Schema.String,
    sizeBytes: Schema.Int
  }).annotate({ identifier: "SnapshotFile" })
) {}
