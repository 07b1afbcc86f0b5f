import { Schema } from "effect"
import { CommitDescription } from "./Commit.ts"
import { ConnectionId, RunId, SourceId, SourceSnapshotId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** `observe` (the default) may trigger auto-update of Capsules that opted in; `manual_plan` never does. */
export const SyncIntent = Schema.Literals(["observe", "manual_plan"])
export type SyncIntent = typeof SyncIntent.Type

/**
 * svc's reaction to pull requests: nothing (`off`); a review without private data (`static`); or, for a head in the same
 * repository, additionally a speculative plan under the rule for reviewed refs (`own_branches`).
 */
export const PullRequestPolicy = Schema.Literals(["off", "static", "own_branches"])
export type PullRequestPolicy = typeof PullRequestPolicy.Type

/** The result of the last check of one ref and path of a Source: its default lane, or a lane that a Capsule has adopted. */
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

/**
 * The result of a webhook delivery: Runs were queued (`accepted`); the forge tested the address (`ping`); the delivery was a
 * duplicate (`repeated`); the Source does not sync automatically, or its Workspace is archived (`not_following`); the signature
 * is wrong (`unproven`); or svc could not handle it (`failed`).
 */
export const deliveryVerdicts = ["accepted", "ping", "repeated", "not_following", "unproven", "failed"] as const
export type DeliveryVerdict = (typeof deliveryVerdicts)[number]

export class Source extends Schema.Opaque<Source>()(
  Schema.Struct({
    id: SourceId,
    workspaceId: WorkspaceId,
    name: Schema.String,
    url: Schema.String,
    defaultRef: Schema.String,
    defaultPath: Schema.String,
    /**
     * Refs that owners and admins have declared reviewed, in addition to the default and adopted lanes. Plans of these refs
     * may open private inputs and state, no matter who starts the plans.
     */
    reviewedRefs: Schema.Array(Schema.String),
    pullRequests: PullRequestPolicy,
    authConnectionId: Schema.optionalKey(ConnectionId),
    /** The Connection with which svc reads pull requests from the forge and writes comments. */
    forgeConnectionId: Schema.optionalKey(ConnectionId),
    autoSync: Schema.Boolean,
    status: Schema.Literals(["active", "disabled", "error"]),
    lastSyncedAt: Schema.optionalKey(Timestamp),
    /** Version of the current webhook secret, starting at 1. Each renewal increments it. */
    hookSecretVersion: Schema.Int,
    /** Time at which the current webhook secret became valid. */
    hookSecretCreatedAt: Timestamp,
    /** Time until which the previous secret is valid, unless a delivery uses the current secret earlier. */
    formerHookSecretUntil: Schema.optionalKey(Timestamp),
    /** The last webhook delivery. Deliveries with a wrong signature are recorded at most once every ten seconds. */
    lastDelivery: Schema.optionalKey(
      Schema.Struct({ at: Timestamp, verdict: Schema.Literals(deliveryVerdicts), runCount: Schema.Int })
    ),
    /** The default lane comes first. Present only in responses for a single Source. */
    lanes: Schema.optionalKey(Schema.Array(SourceLane)),
    /** The last poll of the repository for pull requests. Present only in responses for a single Source. */
    pullRequestLook: Schema.optionalKey(
      Schema.Struct({
        /** Time of the last poll in which svc could read the repository. */
        at: Schema.optionalKey(Timestamp),
        /** Number of open pull requests above the limit, which svc does not follow. */
        leftOut: Schema.Int,
        /** The reason why the repository or its forge could not be read; absent after a success. */
        error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
      })
    ),
    /**
     * Time at which the Source was removed. The Source remains readable for records that refer to it, but starts no work.
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

/**
 * The result of reading `.well-known/svc.json` in the root of the repository during a sync. The document itself is never
 * returned.
 */
export class RepositoryManifestStatus extends Schema.Opaque<RepositoryManifestStatus>()(
  Schema.Struct({
    status: Schema.Literals(["absent", "valid", "invalid"]),
    digest: Schema.optionalKey(Schema.String),
    apiVersion: Schema.optionalKey(Schema.String),
    reason: Schema.optionalKey(Schema.String),
    /** Version of the rules that validated the manifest. A release with newer rules validates it again. */
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

/** The content of a file in a snapshot (specification, ruling 3). */
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
