import { Schema } from "effect"
import { ProjectId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

/** Projects of a Workspace. */
export const ProjectRow = table("projects", {
  id: ProjectId,
  workspace_id: WorkspaceId,
  name: Schema.String,
  slug: Schema.String,
  is_default: Flag,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type ProjectRow = RowOf<typeof ProjectRow.columns>
