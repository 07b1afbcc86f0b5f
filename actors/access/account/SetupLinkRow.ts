import { Schema } from "effect"
import { Subject } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** One-time links to set up or recover an account. Only the recipient of a mail holds a `mailed_reset` link. */
export const SetupLinkRow = table("setup_links", {
  id: Schema.String,
  secret_hash: Schema.String,
  purpose: Schema.Literals(["first_admin", "reset_password", "mailed_reset"]),
  subject: Schema.NullOr(Subject),
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Schema.NullOr(Timestamp)
})
export type SetupLinkRow = RowOf<typeof SetupLinkRow.columns>
