import { Schema } from "effect"
import { Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Workspaces. `WorkspaceRow` is what a reader receives. */
export const StoredWorkspace = table("workspaces", {
  id: WorkspaceId,
  handle: Schema.String,
  display_name: Schema.String,
  type: Schema.Literals(["personal", "organization"]),
  personal_owner: Schema.NullOr(Subject),
  archived_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
  automation_paused_at: Schema.NullOr(Timestamp),
  automation_paused_by: Schema.NullOr(Schema.String),
  automation_pause_reason: Schema.NullOr(Schema.String),
  drift_check_hours: Schema.NullOr(Schema.Int),
  drift_check_by: Schema.NullOr(Schema.String)
})
export type StoredWorkspace = RowOf<typeof StoredWorkspace.columns>
