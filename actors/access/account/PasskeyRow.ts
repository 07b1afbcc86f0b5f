import { Schema } from "effect"
import { Subject } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

export const TransportsJson = jsonText(Schema.Array(Schema.String))

/** Registered passkeys. `public_key` is sealed. */
export const PasskeyRow = table("passkeys", {
  id: Schema.String,
  subject: Subject,
  credential_id: Schema.String,
  public_key: Schema.String,
  counter: Schema.Int,
  transports: TransportsJson,
  device_type: Schema.String,
  backed_up: Flag,
  name: Schema.String,
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp)
})
export type PasskeyRow = RowOf<typeof PasskeyRow.columns>

/** Challenges that no passkey has responded to yet. */
export const PasskeyChallengeRow = table("passkey_challenges", {
  id: Schema.String,
  challenge: Schema.String,
  purpose: Schema.String,
  subject: Schema.NullOr(Subject),
  expires_at: Timestamp
})
export type PasskeyChallengeRow = RowOf<typeof PasskeyChallengeRow.columns>
