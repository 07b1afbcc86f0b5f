import { Schema } from "effect"
import { AccountToken } from "../../../schema/records/AccountToken.ts"
import { AccessTokenId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

export const ScopesJson = jsonText(AccountToken.fields.scopes)

/** Personal access tokens. */
export const TokenRow = table("access_tokens", {
  token_id: AccessTokenId,
  secret_hash: Schema.String,
  subject: Subject,
  name: Schema.String,
  prefix: Schema.String,
  scopes: ScopesJson,
  workspace_id: Schema.NullOr(WorkspaceId),
  created_at: Timestamp,
  expires_at: Schema.NullOr(Timestamp),
  revoked_at: Schema.NullOr(Timestamp),
  last_used_at: Schema.NullOr(Timestamp),
  /** The creator of an automation's token; `null` if the subject created it. */
  created_by: Schema.NullOr(Subject)
})
export type TokenRow = RowOf<typeof TokenRow.columns>
