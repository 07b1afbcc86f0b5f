import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { AccountToken, type AccountTokenAuthority } from "../../../schema/records/AccountToken.ts"
import { CommitCache } from "../../base/database/CommitCache.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { Memberships } from "../../ledger/workspace/Memberships.ts"
import { isWellFormed, secretHash } from "../../base/credential/BearerSecret.ts"
import { invalidToken } from "../../base/credential/CredentialRefusal.ts"
import type { Principal } from "../../base/credential/Principal.ts"
import { TokenUse } from "./TokenUse.ts"
import { limitsOf } from "../../../schema/records/TokenLimits.ts"
import type { AccessTokenId } from "../../../schema/records/Ids.ts"

/** The columns of `access_tokens` without the digest. Scopes are JSON text. */
export const AccessTokenRow = Schema.Struct({
  ...AccountToken.fields,
  scopes: Schema.fromJsonString(AccountToken.fields.scopes)
})
export type AccessTokenRow = typeof AccessTokenRow.Type

/** The columns of a row, in the order of the schema. */
export const accessTokenColumns =
  "token_id, subject, name, prefix, scopes, workspace_id, created_at, expires_at, revoked_at, last_used_at"

/** Stored record of a presented token. */
export const StoredToken = Schema.Struct({
  ...AccessTokenRow.fields,
  user_status: Schema.String,
  /** Number of other credential stores that contain this secret; non-zero means a collision. */
  elsewhere: Schema.Int
})
export type StoredToken = typeof StoredToken.Type

const selectStoredToken = (sql: SqlClient.SqlClient, hash: string) =>
  sql`SELECT ${sql.literal(accessTokenColumns)},
      (SELECT u.status FROM users u WHERE u.subject = access_tokens.subject) AS user_status,
      (SELECT COUNT(*) FROM account_sessions s WHERE s.secret_hash = ${hash})
        + (SELECT COUNT(*) FROM oauth_access_tokens o WHERE o.secret_hash = ${hash}) AS elsewhere
    FROM access_tokens WHERE secret_hash = ${hash}`

/** A valid token. Times are in milliseconds. */
interface UsableToken {
  readonly tokenId: AccessTokenId
  readonly principal: Principal
  /** `Infinity` for a token that never expires. */
  readonly expiresAt: number
  /** The time of the last use, from the token's row; 0 if the token was never used. */
  readonly lastUsedAt: number
}

/**
 * Returns the authority of a token if exactly one store contains its secret, its account is not locked, and the token is not
 * revoked.
 */
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

/** Determines the authority of a presented personal access token. */
export class TokenAuthority extends Context.Service<
  TokenAuthority,
  {
    /**
     * Authenticates a request and records the use of the token. Fails with `invalid_token` unless the token is known, not revoked
     * and not expired.
     */
    readonly authenticate: (token: Redacted.Redacted) => Effect.Effect<Principal, ApiError>
    /**
     * Returns the current authority of the presented token without recording a use. Fails with `invalid_token` (unknown, not a
     * personal token, present in more than one store, revoked or expired), with `workspace_membership_inactive` if the membership
     * in the bound Workspace is not active, and with `verification_unavailable` if the membership cannot be determined.
     */
    readonly current: (bearer: Redacted.Redacted) => Effect.Effect<AccountTokenAuthority, ApiError>
  }
>()("svc/actors/access/account/TokenAuthority") {
  static readonly layer = Layer.effect(
    TokenAuthority,
    Effect.gen(function* () {
      const read = yield* ReadSql
      const memberships = yield* Memberships
      const use = yield* TokenUse

      const find = SqlSchema.findAll({
        Request: Schema.String,
        Result: StoredToken,
        execute: (hash) => selectStoredToken(read, hash)
      })
      const memory = yield* CommitCache
      const stored = memory.untilCommit((hash) =>
        Effect.map(Effect.orDie(find(hash)), ([row]) => row && { row, usable: usableToken(row) })
      )

      const known = (token: Redacted.Redacted) =>
        Effect.flatMap(stored(secretHash(token)), (found) =>
          Effect.flatMap(Clock.currentTimeMillis, (millis) =>
            found === undefined || Option.isNone(found.usable) || found.usable.value.expiresAt <= millis
              ? Effect.fail(invalidToken())
              : Effect.succeed({ row: found.row, usable: found.usable.value, millis })
          )
        )

      /** Reads the role of the token's owner in the Workspace that the token is bound to. */
      const roleBehind = memory.untilCommit((hash) =>
        Effect.flatMap(stored(hash), (found) =>
          found === undefined || found.row.workspace_id === null
            ? Effect.succeedNone
            : memberships.role(found.row.subject, found.row.workspace_id)
        )
      )

      return TokenAuthority.of({
        authenticate: (token) =>
          // Rejects random guesses by their checksum, without a database query.
          isWellFormed("personalToken", Redacted.value(token))
            ? Effect.flatMap(known(token), ({ usable: { lastUsedAt, principal, tokenId }, millis }) =>
                use.isNoted(tokenId, lastUsedAt, millis)
                  ? Effect.succeed(principal)
                  : Effect.as(use.note(tokenId, lastUsedAt), principal)
              )
            : Effect.fail(invalidToken()),
        current: Effect.fn("TokenAuthority.current")(function* (bearer) {
          const { row } = yield* known(bearer)
          const role = yield* roleBehind(secretHash(bearer))
          if (row.workspace_id !== null && Option.isNone(role)) {
            return yield* new ApiError({
              code: "workspace_membership_inactive",
              message: "The token is bound to a Workspace in which its owner has no active membership."
            })
          }
          return {
            kind: "svc.account-pat-authority@v1",
            token_id: row.token_id,
            subject: row.subject,
            scopes: row.scopes,
            workspace_id: row.workspace_id,
            expires_at: row.expires_at,
            workspace_role: Option.getOrNull(role)
          } as const
        })
      })
    })
  )
}
