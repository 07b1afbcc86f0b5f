import { Schema } from "effect"
import { CredentialWait, StaleReason } from "./Capsule.ts"
import { CommitDescription } from "./Commit.ts"
import { CapsuleId, ConnectionId, RunGroupId, RunId, SourceId } from "./Ids.ts"
import { needGroups, needKinds } from "./NeedOrder.ts"
import { Timestamp } from "./Primitives.ts"
import { PlanSummary } from "./PlanDetails.ts"
import { RunType } from "./Run.ts"

/** Kinds of things that need a person's attention. */
export const NeedKind = Schema.Literals(needKinds)
export type NeedKind = typeof NeedKind.Type

export const NeedGroup = Schema.Literals(needGroups)
export type NeedGroup = typeof NeedGroup.Type

export const NeedingCapsule = Schema.Struct({ id: CapsuleId, name: Schema.String, environment: Schema.String })

/** The kinds of work that the service does later, after a commit. */
export const StuckWorkKind = Schema.Literals([
  "install_plan",
  "revision_plan",
  "interface",
  "follow_lane",
  "apply_plan",
  "unread_source"
])
export type StuckWorkKind = typeof StuckWorkKind.Type

/** The Run that an entry concerns, without its evidence. */
export const NeedRun = Schema.Struct({
  id: RunId,
  type: RunType,
  planSummary: Schema.optionalKey(PlanSummary),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String })),
  /** Number of changed resources that a drift check found. */
  driftedResources: Schema.optionalKey(Schema.Int)
})

export const NeedCommit = Schema.Struct({
  /** The full commit id. */
  id: Schema.String,
  sourceId: Schema.optionalKey(SourceId),
  description: Schema.optionalKey(CommitDescription)
})

/**
 * One entry in the attention list: one Capsule with all its reasons, several Capsules that wait for one commit, or something else
 * in the Workspace.
 */
export class Need extends Schema.Opaque<Need>()(
  Schema.Struct({
    /** Identifies the entry for as long as it exists. */
    key: Schema.String,
    group: NeedGroup,
    /** The worst reason. */
    kind: NeedKind,
    /** The Capsule's other reasons. */
    also: Schema.Array(NeedKind),
    since: Timestamp,
    /** More than one only if all of them are waiting for the same new commit of a Source. */
    capsules: Schema.Array(NeedingCapsule),
    /** For a failure: the Capsule has never been applied. */
    neverApplied: Schema.optionalKey(Schema.Boolean),
    run: Schema.optionalKey(NeedRun),
    commit: Schema.optionalKey(NeedCommit),
    staleReasons: Schema.optionalKey(Schema.Array(StaleReason)),
    reason: Schema.optionalKey(Schema.String),
    turn: Schema.optionalKey(CredentialWait.fields.turn),
    runGroupId: Schema.optionalKey(RunGroupId),
    connectionId: Schema.optionalKey(ConnectionId),
    connectionName: Schema.optionalKey(Schema.String),
    sourceId: Schema.optionalKey(SourceId),
    sourceName: Schema.optionalKey(Schema.String),
    ref: Schema.optionalKey(Schema.String),
    /** For work that keeps failing: its kind, and the id of the record that it concerns. */
    work: Schema.optionalKey(StuckWorkKind),
    recordId: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "Need" })
) {}

/** Number of entries in each group, across all pages. */
export const NeedCounts = Schema.Record(NeedGroup, Schema.Int)

/** Health of a Workspace's Capsules: each is counted once, by its worst reason. */
export class CapsuleHealth extends Schema.Opaque<CapsuleHealth>()(
  Schema.Struct({
    /** Number of Capsules that are neither destroyed nor released. */
    capsules: Schema.Int,
    /** Nothing is open, and the real resources either matched the state at the last comparison or have been applied since. */
    healthy: Schema.Int,
    /** Nothing is open, but no drift check has compared the real resources with the state yet. */
    unchecked: Schema.Int,
    /** Capsules that are waiting for a decision or a credential, have drifted, or have an update. */
    waiting: Schema.Int,
    failed: Schema.Int,
    notApplied: Schema.Int,
    disabled: Schema.Int,
    /** `false` if the Workspace has more Capsules than were read; every count is then a lower bound. */
    complete: Schema.Boolean
  }).annotate({ identifier: "CapsuleHealth" })
) {}
