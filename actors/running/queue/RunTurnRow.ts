import { Schema } from "effect"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { table } from "../../base/database/Table.ts"

/** When each Workspace, and each subject in it, last started a Run. The empty subject represents the service. */
export const RunTurnRow = table(
  "run_turns",
  { turn: Schema.Int, slot_pool: Schema.String, workspace_id: WorkspaceId, subject: Schema.String },
  ["turn"]
)
