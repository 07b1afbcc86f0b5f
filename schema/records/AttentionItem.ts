import { Schema } from "effect"
import { CredentialWait, StaleReason } from "./Capsule.ts"
import { CommitDescription } from "./Commit.ts"
import {
  CapsuleId,
  ConnectionId,
  NoticeEndpointId,
  PullRequestId,
  RunGroupId,
  RunId,
  SourceId,
  Subject
} from "./Ids.ts"
import { attentionGroups, attentionKinds } from "./AttentionOrder.ts"
import { Timestamp } from "./Primitives.ts"
import { PlanSummary } from "./PlanDetails.ts"
import { RunType } from "./Run.ts"

export const AttentionKind = Schema.Literals(attentionKinds)
export type AttentionKind = typeof AttentionKind.Type

export const AttentionGroup = Schema.Literals(attentionGroups)
export type AttentionGroup = typeof AttentionGroup.Type

export const AttentionCapsule = Schema.Struct({ id: CapsuleId, name: Schema.String, environment: Schema.String })

/** Kinds of background work that svc does after a commit. */
export const StuckWorkKind = Schema.Literals([
  "install_plan",
  "revision_plan",
  "interface",
  "follow_lane",
  "apply_plan",
  "unread_source",
  "pull_request_look",
  "pull_request",
  "pull_request_report",
  "pull_request_comments"
])
export type StuckWorkKind = typeof StuckWorkKind.Type

/** The Run of an entry, without its evidence. */
export const AttentionRun = Schema.Struct({
  id: RunId,
  type: RunType,
  planSummary: Schema.optionalKey(PlanSummary),
  /** Set for a plan that waits for approval. */
  planDigest: Schema.optionalKey(Schema.String),
  /** The most recent request to approve the plan. */
  approvalAsked: Schema.optionalKey(Schema.Struct({ subject: Subject, at: Timestamp })),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String })),
  /** Number of resources in which a drift check found changes. */
  driftedResources: Schema.optionalKey(Schema.Int)
})

export const AttentionCommit = Schema.Struct({
  /** The full commit id. */
  id: Schema.String,
  sourceId: Schema.optionalKey(SourceId),
  description: Schema.optionalKey(CommitDescription)
})

/**
 * An entry of the attention list: one Capsule with all its reasons, several Capsules that wait for the same commit, or something
 * else in the Workspace.
 */
export class AttentionItem extends Schema.Opaque<AttentionItem>()(
  Schema.Struct({
    /** Stays the same for as long as the entry exists. */
    key: Schema.String,
    group: AttentionGroup,
    /** The most urgent reason. */
    kind: AttentionKind,
    /** The Capsule's other reasons. */
    also: Schema.Array(AttentionKind),
    since: Timestamp,
    /**
     * Contains several Capsules only if all of them wait for the same new commit of a Source, or are changed by the same
     * pull request.
     */
    capsules: Schema.Array(AttentionCapsule),
    /** Set for a failure: true if the Capsule has never been applied. */
    neverApplied: Schema.optionalKey(Schema.Boolean),
    run: Schema.optionalKey(AttentionRun),
    commit: Schema.optionalKey(AttentionCommit),
    staleReasons: Schema.optionalKey(Schema.Array(StaleReason)),
    reason: Schema.optionalKey(Schema.String),
    /** True if only somebody else can act on the entry. */
    waitsForOthers: Schema.optionalKey(Schema.Boolean),
    turn: Schema.optionalKey(CredentialWait.fields.turn),
    /** The pull request whose change needs approvals. */
    pullRequest: Schema.optionalKey(
      Schema.Struct({ id: PullRequestId, number: Schema.Int, title: Schema.optionalKey(Schema.String) })
    ),
    runGroupId: Schema.optionalKey(RunGroupId),
    connectionId: Schema.optionalKey(ConnectionId),
    connectionName: Schema.optionalKey(Schema.String),
    noticeEndpointId: Schema.optionalKey(NoticeEndpointId),
    noticeEndpointName: Schema.optionalKey(Schema.String),
    sourceId: Schema.optionalKey(SourceId),
    sourceName: Schema.optionalKey(Schema.String),
    ref: Schema.optionalKey(Schema.String),
    /** For work that keeps failing: the kind of work, and the id of the record it belongs to. */
    work: Schema.optionalKey(StuckWorkKind),
    recordId: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "AttentionItem" })
) {}

/** Number of entries in each group, counted over all pages. */
export const AttentionCounts = Schema.Record(AttentionGroup, Schema.Int)

/** The health of a Workspace's Capsules. Each Capsule is counted once, by its most urgent reason. */
export class CapsuleHealth extends Schema.Opaque<CapsuleHealth>()(
  Schema.Struct({
    /** Number of Capsules that are neither destroyed nor released. */
    capsules: Schema.Int,
    /**
     * Capsules without open items whose real resources matched the state in the last drift check, or that have been applied
     * since that check.
     */
    healthy: Schema.Int,
    /** Capsules without open items whose real resources have not been compared with the state by a drift check yet. */
    unchecked: Schema.Int,
    /** Capsules that need a decision or a credential, have drifted, or have an update available. */
    waiting: Schema.Int,
    failed: Schema.Int,
    notApplied: Schema.Int,
    disabled: Schema.Int,
    /** `false` if the Workspace has more Capsules than were read. All counts are then lower bounds. */
    complete: Schema.Boolean
  }).annotate({ identifier: "CapsuleHealth" })
) {}
