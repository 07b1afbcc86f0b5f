import { Schema } from "effect"
import { ConnectionId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Pending authorizations: a person was redirected to grant them and has not finished yet. */
export const ConnectionAuthorizationRow = table("connection_authorizations", {
  state_hash: Schema.String,
  workspace_id: WorkspaceId,
  connection_id: ConnectionId,
  helper_id: Schema.String,
  issuer: Schema.String,
  redirect_uri: Schema.String,
  subject: Subject,
  session_id: Schema.String,
  draft: Schema.String,
  sealed_verifier: Schema.String,
  expires_at: Timestamp
})
export type ConnectionAuthorizationRow = RowOf<typeof ConnectionAuthorizationRow.columns>
