import { type Effect, Schema } from "effect"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { WorkspaceId } from "../../schema/records/Ids.ts"

/** Kinds of records that a restore may revive although they ended after the backup was written. */
export const ReviewKind = Schema.Literals([
  "membership",
  "connection",
  "output_share",
  "agent",
  "agent_pool_assignment",
  "agent_pool_provision"
])
export type ReviewKind = typeof ReviewKind.Type

/** A record that has no effect until an operator confirms it. */
export const ReviewItem = Schema.Struct({
  /** The record's own id. */
  id: Schema.String,
  kind: ReviewKind,
  /** The Workspace that owns it; `null` for the operator's records. */
  workspaceId: Schema.NullOr(WorkspaceId),
  /** Its handle. */
  workspace: Schema.NullOr(Schema.String),
  /** Its name or subject, for display to people. */
  description: Schema.String,
  previousStatus: Schema.String,
  /** ISO 8601: the time of the record's last change, according to the backup. */
  changedAt: Timestamp
})
export type ReviewItem = typeof ReviewItem.Type

/** A record whose authority is suspended, and the status that a confirmation restores. */
export const HeldRecord = Schema.Struct({ id: Schema.String, previousStatus: Schema.String })
export type HeldRecord = typeof HeldRecord.Type

/**
 * Records of one kind, kept by the actor that owns them. Every method works in the caller's transaction. `unconfirmed` is a
 * status of the record itself, so every read of authority refuses it without a special rule for restores. Agents are revoked
 * instead, and a pool's permissions are removed until it is confirmed.
 */
export interface RestoredRecords<R = never> {
  readonly kind: ReviewKind
  /** Marks every record that is or may become effective as `unconfirmed`. */
  readonly hold: Effect.Effect<ReadonlyArray<HeldRecord>, never, R>
  readonly pending: Effect.Effect<ReadonlyArray<ReviewItem>>
  readonly confirm: (id: string, previousStatus: string) => Effect.Effect<void, never, R>
  /** Ends the record exactly as its ordinary removal would. */
  readonly remove: (id: string) => Effect.Effect<void, never, R>
}
