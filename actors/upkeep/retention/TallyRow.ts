import { Schema } from "effect"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { RetainedKindName } from "../../../schema/records/Retention.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** What the current pass has removed so far. */
export const TallyRow = table("retention_tallies", {
  workspace_id: WorkspaceId,
  kind: RetainedKindName,
  records: Schema.Int,
  bytes: Schema.Int
})
export type TallyRow = RowOf<typeof TallyRow.columns>
