import { Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { ApiError } from "../../schema/errors/ApiError.ts"
import type { AccountTokenAuthority } from "../../schema/records/AccountToken.ts"
import { PointReads } from "../database/PointReads.ts"
import { ReadSql } from "../database/ReadSql.ts"
import { now } from "../Identity.ts"
import { Memberships } from "../workspace/Memberships.ts"
import { isWellFormed, secretHash } from "./BearerSecret.ts"
import { invalidToken } from "./CredentialRefusal.ts"
import type { Principal } from "./Principal.ts"
import { isGood, principalOf, selectStoredToken, StoredToken } from "./StoredToken.ts"
import { TokenUse } from "./TokenUse.ts"

/** What a presented personal access token may do. */
export class TokenAuthority extends Context.Service<
  TokenAuthority,
  {
    /** For requests: fails with `invalid_token` unless the token is known, active and not expired. Notes the use. */
    readonly authenticate: (token: Redacted.Redacted) => Effect.Effect<Principal, ApiError>
    /**
     * The principal of a token that is good at `millis` and whose use need not be noted, without waiting. `None` says
     * nothing about the token: ask `authenticate`.
     */
    readonly atOnce: (token: Redacted.Redacted, millis: number) => Option.Option<Principal>
    /**
     * The current authority of the presented bearer. Changes nothing. Fails with `invalid_token` (unknown, not a personal
     * token, known to more than one store, revoked, expired), with `workspace_membership_inactive` when the Workspace it
     * is bound to has no active membership, and with `verification_unavailable` when that cannot be told.
     */
    readonly current: (bearer: Redacted.Redacted) => Effect.Effect<AccountTokenAuthority, ApiError>
  }
>()("svc/account/TokenAuthority") {
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
      const findAtOnce = (yield* PointReads).prepare(
        StoredToken,
        (hash) => selectStoredToken(read, hash),
        "untilCommit"
      )

      const known = Effect.fnUntraced(function* (token: Redacted.Redacted) {
        const [row] = yield* Effect.orDie(find(secretHash(token)))
        return row !== undefined && isGood(row, yield* now) ? row : yield* invalidToken()
      })

      return TokenAuthority.of({
        authenticate: Effect.fn("TokenAuthority.authenticate")(function* (token) {
          // The checksum saves the database from guesses.
          if (!isWellFormed("personalToken", Redacted.value(token))) return yield* invalidToken()
          const row = yield* known(token)
          yield* use.note(row.token_id, row.last_used_at)
          return principalOf(row)
        }),
        atOnce: (token, millis) => {
          if (!isWellFormed("personalToken", Redacted.value(token))) return Option.none()
          const at = DateTime.formatIso(DateTime.makeUnsafe(millis))
          return findAtOnce(secretHash(token)).pipe(
            Option.filter((row) => isGood(row, at) && use.isNoted(row.token_id, row.last_used_at, millis)),
            Option.map(principalOf)
          )
        },
        current: Effect.fn("TokenAuthority.current")(function* (bearer) {
          const row = yield* known(bearer)
          const role =
            row.workspace_id === null ? Option.none() : yield* memberships.role(row.subject, row.workspace_id)
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
