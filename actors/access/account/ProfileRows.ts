import { Schema } from "effect"
import { Subject } from "../../../schema/records/Ids.ts"
import { AddressProof } from "../../../schema/records/Invitation.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Links that change an account's address. `proof` is the kind of proof that using the link provides. */
export const AddressChangeRow = table("address_changes", {
  id: Schema.String,
  secret_hash: Schema.String,
  subject: Subject,
  email: Schema.String,
  proof: AddressProof,
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Schema.NullOr(Timestamp)
})
export type AddressChangeRow = RowOf<typeof AddressChangeRow.columns>

export const NoticeKind = Schema.Literals([
  "address",
  "password",
  "password_removed",
  "passkey_added",
  "passkey_removed",
  "identity_linked",
  "identity_unlinked",
  "second_factor_on",
  "second_factor_off",
  "recovery_codes",
  "recovery_code_used"
])
export type NoticeKind = typeof NoticeKind.Type

/** Changes to an account that its owner is notified of. */
export const AccountNoticeRow = table("account_notices", {
  id: Schema.String,
  subject: Subject,
  kind: NoticeKind,
  detail: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  seen_at: Schema.NullOr(Timestamp)
})
export type AccountNoticeRow = RowOf<typeof AccountNoticeRow.columns>
