import { Schema } from "effect"
import { CredentialWait, StaleReason } from "./Capsule.ts"
import { CommitDescription } from "./Commit.ts"
import { CapsuleId, ConnectionId, RunGroupId, RunId, SourceId } from "./Ids.ts"
import { needGroups, needKinds } from "./NeedOrder.ts"
import { Timestamp } from "./Primitives.ts"
import { PlanSummary, RunType } from "./Run.ts"

/** Why something needs a person. */
export const NeedKind = Schema.Literals(needKinds)
export type NeedKind = typeof NeedKind.Type

export const NeedGroup = Schema.Literals(needGroups)
export type NeedGroup = typeof NeedGroup.Type

export const NeedingCapsule = Schema.Struct({ id: CapsuleId, name: Schema.String, environment: Schema.String })

/** The Run that an entry is about, without its evidence. */
export const NeedRun = Schema.Struct({
  id: RunId,
  type: RunType,
  planSummary: Schema.optionalKey(PlanSummary),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String })),
  /** How many resources a drift check found changed. */
  driftedResources: Schema.optionalKey(Schema.Int)
})

export const NeedCommit = Schema.Struct({
  /** The full commit id. */
  id: Schema.String,
  sourceId: Schema.optionalKey(SourceId),
  description: Schema.optionalKey(CommitDescription)
})

/**
 * One entry of what needs a person: one Capsule with every reason, several Capsules behind one commit, or something else in
 * the Workspace.
 */
export class Need extends Schema.Opaque<Need>()(
  Schema.Struct({
    /** Stays the same while the entry does. */
    key: Schema.String,
    group: NeedGroup,
    /** The worst reason. */
    kind: NeedKind,
    /** Further reasons of the same Capsule. */
    also: Schema.Array(NeedKind),
    since: Timestamp,
    /** Several only where one newer commit of a Source waits for all of them. */
    capsules: Schema.Array(NeedingCapsule),
    /** For a failure: the Capsule was never applied. */
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
    ref: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "Need" })
) {}

/** How many entries each group has, over all pages. */
export const NeedCounts = Schema.Record(NeedGroup, Schema.Int)

/** The health of the Capsules of a Workspace: each is counted once, by its worst reason. */
export class CapsuleHealth extends Schema.Opaque<CapsuleHealth>()(
  Schema.Struct({
    /** Neither destroyed nor released. */
    capsules: Schema.Int,
    /** Nothing is open, and what exists was compared with the state and did not differ, or was applied since. */
    healthy: Schema.Int,
    /** Nothing is open, but no drift check has compared what exists with the state. */
    unchecked: Schema.Int,
    /** They wait for a decision or a credential, drifted, or have an update. */
    waiting: Schema.Int,
    failed: Schema.Int,
    notApplied: Schema.Int,
    disabled: Schema.Int,
    /** `false` in a Workspace with more Capsules than were read: then every count is a lower bound. */
    complete: Schema.Boolean
  }).annotate({ identifier: "CapsuleHealth" })
) {}
