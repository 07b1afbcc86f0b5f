import { type Effect, Schema } from "effect"
import { Timestamp } from "../../schema/records/Primitives.ts"
import { WorkspaceId } from "../../schema/records/Ids.ts"

/** Kinds of records that a restore may bring back although they were ended after the backup. */
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
  /** The id of the record. */
  id: Schema.String,
  kind: ReviewKind,
  /** The Workspace that owns the record; `null` for records of the operator. */
  workspaceId: Schema.NullOr(WorkspaceId),
  /** Its handle. */
  workspace: Schema.NullOr(Schema.String),
  /** Name or subject of the record, as shown to people. */
  description: Schema.String,
  previousStatus: Schema.String,
  /** Time of the record's last change before the backup (ISO 8601). */
  changedAt: Timestamp
})
export type ReviewItem = typeof ReviewItem.Type

/** A suspended record, and the status that a confirmation gives back to it. */
export const HeldRecord = Schema.Struct({ id: Schema.String, previousStatus: Schema.String })
export type HeldRecord = typeof HeldRecord.Type

/**
 * Reviews the restored records of one kind. The actor that owns the records implements this interface. Every method works in
 * the caller's transaction. `unconfirmed` is a status of the record itself, so every authority check rejects it without a
 * special rule for restores. Agents are revoked instead, and permissions for pools are removed until they are confirmed.
 */
export interface RestoredRecords<R = never> {
  readonly kind: ReviewKind
  /** Marks every record that has an effect, or may gain one, as `unconfirmed`. */
  readonly hold: Effect.Effect<ReadonlyArray<HeldRecord>, never, R>
  readonly pending: Effect.Effect<ReadonlyArray<ReviewItem>>
  readonly confirm: (id: string, previousStatus: string) => Effect.Effect<void, never, R>
  /** Ends the record, with the same effect as its ordinary removal. */
  readonly remove: (id: string) => Effect.Effect<void, never, R>
}
