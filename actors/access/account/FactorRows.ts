import { Schema } from "effect"
import { Subject } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Second factors using time-based codes; `secret` is sealed. Not required until activated. */
export const TotpRow = table("totp_factors", {
  subject: Subject,
  secret: Schema.String,
  created_at: Timestamp,
  activated_at: Schema.NullOr(Timestamp),
  last_step: Schema.NullOr(Schema.Int),
  failures: Schema.Int,
  failing_since: Schema.NullOr(Timestamp)
})
export type TotpRow = RowOf<typeof TotpRow.columns>

/** Codes that can each replace the second factor once. */
export const RecoveryCodeRow = table("recovery_codes", {
  id: Schema.String,
  subject: Subject,
  code_hash: Schema.String,
  created_at: Timestamp,
  used_at: Schema.NullOr(Timestamp)
})
export type RecoveryCodeRow = RowOf<typeof RecoveryCodeRow.columns>
