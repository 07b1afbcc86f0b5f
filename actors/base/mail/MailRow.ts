import { Schema } from "effect"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../database/Table.ts"

/** Mails waiting to be sent, and for one day those that have been sent or given up on. */
export const MailRow = table("mails", {
  id: Schema.String,
  recipient: Schema.String,
  /** The person who chose the address; `null` for the operator's mails and for notices. */
  sender: Schema.NullOr(Schema.String),
  workspace_id: Schema.NullOr(WorkspaceId),
  kind: Schema.Literals(["invitation", "reset_link", "address_link", "notice"]),
  /** Subject and body, sealed: they contain links. `null` once the mail has been sent or given up on. */
  content: Schema.NullOr(Schema.String),
  attempts: Schema.Int,
  next_at: Timestamp,
  expires_at: Timestamp,
  created_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp),
  outcome: Schema.NullOr(Schema.Literals(["sent", "refused", "expired"]))
})
export type MailRow = RowOf<typeof MailRow.columns>
