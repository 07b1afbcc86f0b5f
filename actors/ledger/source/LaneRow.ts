import { Schema } from "effect"
import { SourceId, SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Lanes that have been checked. */
export const StoredLane = table("source_lanes", {
  source_id: SourceId,
  ref: Schema.String,
  path: Schema.String,
  source_snapshot_id: Schema.NullOr(SourceSnapshotId),
  resolved_commit: Schema.NullOr(Schema.String),
  last_look_at: Schema.NullOr(Timestamp),
  last_change_at: Schema.NullOr(Timestamp),
  next_look_at: Schema.NullOr(Timestamp),
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  error_since: Schema.NullOr(Timestamp)
})
export type StoredLane = RowOf<typeof StoredLane.columns>

/** Lanes that automation tried to sync while the Workspace's queue was full. */
export const DeferredSyncRow = table("deferred_syncs", {
  source_id: SourceId,
  ref: Schema.String,
  path: Schema.String,
  trigger_kind: Schema.Literals(["webhook", "schedule"]),
  since: Timestamp
})
export type DeferredSyncRow = RowOf<typeof DeferredSyncRow.columns>
