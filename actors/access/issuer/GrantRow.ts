import { Schema } from "effect"
import { Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Access tokens issued under a grant. */
export const OAuthTokenRow = table("oauth_access_tokens", {
  id: Schema.String,
  secret_hash: Schema.String,
  subject: Subject,
  client_id: Schema.String,
  grant_id: Schema.String,
  scopes: Schema.String,
  workspace_id: Schema.NullOr(WorkspaceId),
  created_at: Timestamp,
  expires_at: Timestamp,
  revoked_at: Schema.NullOr(Timestamp)
})
export type OAuthTokenRow = RowOf<typeof OAuthTokenRow.columns>

/** A person's grant to an OAuth client. */
export const GrantRow = table("oidc_grants", {
  id: Schema.String,
  client_id: Schema.String,
  subject: Subject,
  session_id: Schema.NullOr(Schema.String),
  workspace_id: Schema.NullOr(WorkspaceId),
  scopes: Schema.String,
  claims: Schema.String,
  resource: Schema.NullOr(Schema.String),
  redirect_uri: Schema.NullOr(Schema.String),
  auth_time: Schema.Int,
  created_at: Timestamp,
  revoked_at: Schema.NullOr(Timestamp),
  revoked_reason: Schema.NullOr(Schema.String)
})
export type GrantRow = RowOf<typeof GrantRow.columns>

/** Refresh tokens issued under a grant. */
export const RefreshTokenRow = table("oidc_refresh_tokens", {
  secret_hash: Schema.String,
  grant_id: Schema.String,
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Schema.NullOr(Timestamp),
  successor_hash: Schema.NullOr(Schema.String)
})
export type RefreshTokenRow = RowOf<typeof RefreshTokenRow.columns>

/** Authorization codes issued under a grant. */
export const CodeRow = table("oidc_codes", {
  secret_hash: Schema.String,
  grant_id: Schema.String,
  redirect_uri: Schema.String,
  code_challenge: Schema.NullOr(Schema.String),
  nonce: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Schema.NullOr(Timestamp)
})
export type CodeRow = RowOf<typeof CodeRow.columns>
