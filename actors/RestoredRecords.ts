import type { Effect } from "effect"

/** Records that a restore may revive although somebody ended them after the backup was written. */
export type ReviewKind = "membership" | "connection" | "output_share"

/** A record that has no effect until an operator confirms it. */
export interface ReviewItem {
  /** Id of the record itself. */
  readonly id: string
  readonly kind: ReviewKind
  /** The Workspace that it belongs to; `null` for the operator's records. */
  readonly workspaceId: string | null
  /** Its handle. */
  readonly workspace: string | null
  /** Its name or subject, for people. */
  readonly description: string
  readonly previousStatus: string
  /** ISO 8601: when the record last changed, according to the backup. */
  readonly changedAt: string
}

/** A record whose authority was taken away, and the status that a confirmation restores. */
export interface HeldRecord {
  readonly id: string
  readonly previousStatus: string
}

/**
 * Records of one kind, kept by the actor that owns them. Every method works in the caller's transaction. `unconfirmed` is a
 * status of the record itself, so every read of authority refuses it without knowing of restores.
 */
export interface RestoredRecords<R = never> {
  readonly kind: ReviewKind
  /** Makes every effective record, and those that may become so, `unconfirmed`. */
  readonly hold: Effect.Effect<ReadonlyArray<HeldRecord>, never, R>
  readonly pending: Effect.Effect<ReadonlyArray<ReviewItem>>
  readonly confirm: (id: string, previousStatus: string) => Effect.Effect<void, never, R>
  /** Ends the record as its own removal would. */
  readonly remove: (id: string) => Effect.Effect<void, never, R>
}
