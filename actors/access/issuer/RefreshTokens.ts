import { Context, DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { isWellFormed, mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import type { Grant } from "./Grants.ts"
import { deriveSuccessor } from "./IdentitySecrets.ts"
import { IssuerSettings } from "./IssuerSettings.ts"
import { lifetimes } from "./Lifetimes.ts"
import { GrantRow, RefreshTokenRow } from "./GrantRow.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"

const { created_at, expires_at, grant_id, successor_hash, used_at } = RefreshTokenRow.columns

/** A refresh token and its client. */
const IssuedToken = rowShape({
  grant_id,
  client_id: GrantRow.columns.client_id,
  created_at,
  expires_at,
  used_at,
  successor_hash
})
type IssuedToken = RowOf<typeof IssuedToken.columns>

/** Stored record of a presented refresh token. Reading the record does not use up the token. */
export type RefreshLookup =
  | { readonly kind: "good"; readonly grantId: string; readonly repeated: boolean }
  | { readonly kind: "reused"; readonly grantId: string }
  | { readonly kind: "unknown" }

/**
 * Refresh tokens. Each token can be used once, and refers to its successor. Every method works in the caller's transaction.
 */
export class RefreshTokens extends Context.Service<
  RefreshTokens,
  {
    /** Creates the first token of a grant's family. */
    readonly begin: (grant: Grant) => Effect.Effect<Redacted.Redacted, SqlError>
    readonly lookup: (clientId: string, token: Redacted.Redacted) => Effect.Effect<RefreshLookup, SqlError>
    /** Uses up the token and returns its successor. Returns the same successor if the token is reused within the grace period. */
    readonly rotate: (grant: Grant, token: Redacted.Redacted) => Effect.Effect<Redacted.Redacted, SqlError>
  }
>()("svc/actors/access/issuer/RefreshTokens") {
  static readonly layer = Layer.effect(
    RefreshTokens,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
      const { refreshReuseGrace } = yield* IssuerSettings
      const graceful = Duration.toMillis(refreshReuseGrace) > 0

      const store = Effect.fnUntraced(function* (grant: Grant, token: Redacted.Redacted) {
        const at = yield* DateTime.now
        const end = DateTime.addDuration(at, lifetimes.refreshToken)
        const last = DateTime.addDuration(DateTime.makeUnsafe(grant.createdAt), lifetimes.refreshFamily)
        yield* sql`INSERT INTO oidc_refresh_tokens ${RefreshTokenRow.values(sql, {
          secret_hash: secretHash(token),
          grant_id: grant.id,
          created_at: DateTime.formatIso(at),
          expires_at: DateTime.formatIso(DateTime.min(end, last)),
          used_at: null,
          successor_hash: null
        })}`
        return token
      })

      const draw = mintSecret("oauthRefresh").pipe(withRandom)
      const successorOf = (token: Redacted.Redacted) =>
        graceful ? deriveSuccessor(token).pipe(Effect.provideService(Vault, vault), withRandom) : draw

      /**
       * Returns true if a reuse is probably a retry by a client that lost the response: that is, if it happens soon after
       * the first use and before any use of the successor.
       */
      const withinGrace = Effect.fnUntraced(function* (row: IssuedToken, token: Redacted.Redacted) {
        if (!graceful || row.used_at === null || row.successor_hash === null) return false
        const until = DateTime.addDuration(DateTime.makeUnsafe(row.used_at), refreshReuseGrace)
        if (DateTime.formatIso(until) < (yield* now)) return false
        // The successor was created while the grace period was off, so it is random instead of derived and cannot be
        // returned again.
        if (secretHash(yield* successorOf(token)) !== row.successor_hash) return false
        const [successor] = yield* RefreshTokenRow.some(sql, "used_at")`SELECT used_at FROM oidc_refresh_tokens
          WHERE secret_hash = ${row.successor_hash}`
        return successor !== undefined && successor.used_at === null
      })

      return RefreshTokens.of({
        begin: Effect.fn("RefreshTokens.begin")(function* (grant) {
          return yield* store(grant, yield* draw)
        }),
        lookup: Effect.fn("RefreshTokens.lookup")(function* (clientId, token) {
          if (!isWellFormed("oauthRefresh", Redacted.value(token))) return { kind: "unknown" }
          const [row] = yield* IssuedToken.rows(
            sql
          )`SELECT r.grant_id, g.client_id, r.created_at, r.expires_at, r.used_at,
              r.successor_hash
            FROM oidc_refresh_tokens r JOIN oidc_grants g ON g.id = r.grant_id
            WHERE r.secret_hash = ${secretHash(token)}`
          if (row === undefined || row.client_id !== clientId) return { kind: "unknown" }
          if (row.used_at !== null) {
            return (yield* withinGrace(row, token))
              ? { kind: "good", grantId: row.grant_id, repeated: true }
              : { kind: "reused", grantId: row.grant_id }
          }
          return row.expires_at > (yield* now)
            ? { kind: "good", grantId: row.grant_id, repeated: false }
            : { kind: "unknown" }
        }),
        rotate: Effect.fn("RefreshTokens.rotate")(function* (grant, token) {
          const successor = yield* successorOf(token)
          const used = yield* sql`UPDATE oidc_refresh_tokens
            SET used_at = ${yield* now}, successor_hash = ${secretHash(successor)}
            WHERE secret_hash = ${secretHash(token)} AND used_at IS NULL RETURNING grant_id`
          return used.length === 0 ? successor : yield* store(grant, successor)
        })
      })
    })
  )
}
