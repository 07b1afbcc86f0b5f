import { Schema } from "effect"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Device authorizations. */
export const DeviceCodeRow = table("oidc_device_codes", {
  secret_hash: Schema.String,
  user_code_digest: Schema.String,
  client_id: Schema.String,
  scopes: Schema.String,
  workspace_id: Schema.NullOr(WorkspaceId),
  resource: Schema.NullOr(Schema.String),
  status: Schema.Literals(["pending", "approved", "denied", "used"]),
  grant_id: Schema.NullOr(Schema.String),
  interval_seconds: Schema.Int,
  last_polled_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  expires_at: Timestamp
})
export type DeviceCodeRow = RowOf<typeof DeviceCodeRow.columns>
