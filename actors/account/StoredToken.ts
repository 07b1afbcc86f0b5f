import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AccessTokenRow, accessTokenColumns } from "./AccessTokenRow.ts"
import type { Principal } from "./Principal.ts"

/** What the database knows of a presented personal access token. */
export const StoredToken = Schema.Struct({
  ...AccessTokenRow.fields,
  user_status: Schema.String,
  /** In how many other stores the same secret is known. */
  elsewhere: Schema.Int
})
export type StoredToken = typeof StoredToken.Type

export const selectStoredToken = (sql: SqlClient.SqlClient, hash: string) =>
  sql`SELECT ${sql.literal(accessTokenColumns)},
      (SELECT u.status FROM users u WHERE u.subject = access_tokens.subject) AS user_status,
      (SELECT COUNT(*) FROM account_sessions s WHERE s.secret_hash = ${hash})
        + (SELECT COUNT(*) FROM oauth_access_tokens o WHERE o.secret_hash = ${hash}) AS elsewhere
    FROM access_tokens WHERE secret_hash = ${hash}`

/** Whether the token may be used at a time (ISO 8601): of one store only, of an open account, not revoked, not expired. */
export const isGood = (row: StoredToken, at: string): boolean =>
  row.elsewhere === 0 &&
  row.user_status === "active" &&
  row.revoked_at === null &&
  (row.expires_at === null || row.expires_at > at)

export const principalOf = (row: StoredToken): Principal => ({
  credential: "token",
  credentialId: row.token_id,
  subject: row.subject,
  scopes: row.scopes,
  ...(row.workspace_id === null ? {} : { boundWorkspaceId: row.workspace_id })
})
