import { Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { limitsOf } from "../../../schema/records/TokenLimits.ts"
import type { AccessTokenId } from "../../../schema/records/Ids.ts"
import type { Principal } from "../../base/credential/Principal.ts"
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

/** The stored facts about a presented personal access token. */
export const StoredToken = Schema.Struct({
  ...AccessTokenRow.fields,
  user_status: Schema.String,
  /** Number of other credential stores that contain this secret; non-zero means a collision. */
  elsewhere: Schema.Int
})
export type StoredToken = typeof StoredToken.Type

export const selectStoredToken = (sql: SqlClient.SqlClient, hash: string) =>
  sql`SELECT ${sql.literal(accessTokenColumns)},
      (SELECT u.status FROM users u WHERE u.subject = access_tokens.subject) AS user_status,
      (SELECT COUNT(*) FROM account_sessions s WHERE s.secret_hash = ${hash})
        + (SELECT COUNT(*) FROM oauth_access_tokens o WHERE o.secret_hash = ${hash}) AS elsewhere
    FROM access_tokens WHERE secret_hash = ${hash}`

/** A token with an expiry time. Times are in milliseconds. */
export interface UsableToken {
  readonly tokenId: AccessTokenId
  readonly principal: Principal
  /** Infinite when it never expires. */
  readonly expiresAt: number
  /** Taken from its row; 0 for never. */
  readonly lastUsedAt: number
}

/** The token's authority, if exactly one store contains the secret, its account is open, and it has not been revoked. */
export const usableToken = (row: StoredToken): Option.Option<UsableToken> => {
  const limits = limitsOf(row.scopes)
  return row.elsewhere === 0 && row.user_status === "active" && row.revoked_at === null
    ? Option.some({
        tokenId: row.token_id,
        principal: {
          credential: "token",
          credentialId: row.token_id,
          subject: row.subject,
          scopes: row.scopes,
          ...(row.workspace_id === null ? {} : { boundWorkspaceId: row.workspace_id }),
          ...(limits === undefined ? {} : { limits })
        },
        expiresAt: row.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.expires_at),
        lastUsedAt: row.last_used_at === null ? 0 : Date.parse(row.last_used_at)
      })
    : Option.none()
}
