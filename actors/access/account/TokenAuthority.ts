import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { AccountTokenAuthority } from "../../../schema/records/AccountToken.ts"
import { CommitCache } from "../../base/database/CommitCache.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { Memberships } from "../../ledger/workspace/Memberships.ts"
import { isWellFormed, secretHash } from "../../base/credential/BearerSecret.ts"
import { invalidToken } from "../../base/credential/CredentialRefusal.ts"
import type { Principal } from "../../base/credential/Principal.ts"
import { selectStoredToken, StoredToken, usableToken } from "./StoredToken.ts"
import { TokenUse } from "./TokenUse.ts"

/** The authority of a presented personal access token. */
export class TokenAuthority extends Context.Service<
  TokenAuthority,
  {
    /** For requests: fails with `invalid_token` unless the token is known, active and not expired. Records the use. */
    readonly authenticate: (token: Redacted.Redacted) => Effect.Effect<Principal, ApiError>
    /**
     * The current authority of the presented bearer token. Changes nothing. Fails with `invalid_token` (unknown, not a personal
     * token, present in more than one store, revoked, expired), with `workspace_membership_inactive` if there is no active
     * membership in the bound Workspace, and with `verification_unavailable` if that cannot be determined.
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

      /** The role behind a token that is bound to a Workspace. */
      const roleBehind = memory.untilCommit((hash) =>
        Effect.flatMap(stored(hash), (found) =>
          found === undefined || found.row.workspace_id === null
            ? Effect.succeedNone
            : memberships.role(found.row.subject, found.row.workspace_id)
        )
      )

      return TokenAuthority.of({
        authenticate: (token) =>
          // The checksum prevents guesses from reaching the database.
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
