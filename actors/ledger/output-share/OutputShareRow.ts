import { Schema } from "effect"
import { CapsuleId, OutputShareId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { OutputShare } from "../../../schema/records/OutputShare.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Outputs that one Workspace offers to another. */
export const OutputShareRow = table("output_shares", {
  id: OutputShareId,
  from_workspace_id: WorkspaceId,
  to_workspace_id: WorkspaceId,
  producer_capsule_id: CapsuleId,
  outputs: Schema.String,
  status: OutputShare.fields.status,
  created_at: Timestamp,
  approved_at: Schema.NullOr(Timestamp),
  revoked_at: Schema.NullOr(Timestamp)
})
export type OutputShareRow = RowOf<typeof OutputShareRow.columns>
