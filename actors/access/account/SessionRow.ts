import { Schema } from "effect"
import { Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Sessions of signed-in people. */
export const SessionRow = table("account_sessions", {
  id: Schema.String,
  secret_hash: Schema.String,
  subject: Subject,
  workspace_id: Schema.NullOr(WorkspaceId),
  user_agent: Schema.NullOr(Schema.String),
  method: Schema.String,
  created_at: Timestamp,
  last_seen_at: Timestamp,
  expires_at: Timestamp,
  revoked_at: Schema.NullOr(Timestamp),
  confirmed_at: Schema.NullOr(Timestamp)
})
export type SessionRow = RowOf<typeof SessionRow.columns>
