import { Schema } from "effect"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../database/Table.ts"

/** Wrapped data keys; `workspace_id` is empty for records that belong to no Workspace. */
export const DataKeyRow = table("vault_data_keys", {
  id: Schema.String,
  record_kind: Schema.String,
  workspace_id: Schema.String,
  master_key_id: Schema.String,
  wrapped_key: Schema.String,
  status: Schema.String,
  created_at: Timestamp,
  wrapped_at: Timestamp
})
export type DataKeyRow = RowOf<typeof DataKeyRow.columns>
