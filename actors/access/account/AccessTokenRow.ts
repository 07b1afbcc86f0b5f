import { Schema } from "effect"
import { AccountToken } from "../../../schema/records/AccountToken.ts"

/** A row of `access_tokens` without its digest: the columns of the public record, scopes as JSON text. */
export const AccessTokenRow = Schema.Struct({
  ...AccountToken.fields,
  scopes: Schema.fromJsonString(AccountToken.fields.scopes)
})
export type AccessTokenRow = typeof AccessTokenRow.Type

/** The columns of a row, in the order of the schema. */
export const accessTokenColumns =
  "token_id, subject, name, prefix, scopes, workspace_id, created_at, expires_at, revoked_at, last_used_at"
