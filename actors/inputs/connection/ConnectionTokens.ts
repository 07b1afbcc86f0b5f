import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { GrantedTokens } from "../../../runner/oauth/AuthorizationServer.ts"
import type { ConnectionOAuthFault } from "../../../schema/records/Connection.ts"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import { now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { ConnectionRow, OAuthFaultJson, OAuthJson } from "./ConnectionRow.ts"
import type { StoredOAuth } from "./StoredOAuth.ts"

/** Access and refresh token. Runs never receive the refresh token. */
export const ConnectionTokenPair = Schema.Struct({
  accessToken: Schema.String,
  refreshToken: Schema.optionalKey(Schema.String)
})
export type ConnectionTokenPair = typeof ConnectionTokenPair.Type

const TokensJson = Schema.fromJsonString(ConnectionTokenPair)
/** Encodes current or replaced tokens for sealing. */
export const encodeTokens = Schema.encodeSync(TokensJson)
export const decodeTokens = Schema.decodeUnknownEffect(TokensJson)

/** Returns `undefined` for a Connection that no helper created. */
export const oauthOf = ({ oauth }: Pick<ConnectionRow, "oauth">): StoredOAuth | undefined =>
  oauth === null ? undefined : OAuthJson.read(oauth)

export const oauthFaultOf = (row: Pick<ConnectionRow, "oauth_fault">): ConnectionOAuthFault | undefined =>
  row.oauth_fault === null ? undefined : OAuthFaultJson.read(row.oauth_fault)

export const tokenPair = ({ accessToken, refreshToken }: GrantedTokens) =>
  Redacted.make<ConnectionTokenPair>({
    accessToken: Redacted.value(accessToken),
    ...(refreshToken === undefined ? {} : { refreshToken: Redacted.value(refreshToken) })
  })

const place = (row: Pick<ConnectionRow, "id" | "workspace_id">) => ({
  table: "connections",
  column: "sealed_tokens",
  workspaceId: row.workspace_id,
  rowId: row.id
})

/**
 * Stores the tokens of Connections. The only writer of the columns `oauth`, `oauth_fault`, `sealed_tokens` and
 * `token_generation`. Callers change values and tokens in one transaction.
 */
export class ConnectionTokens extends Context.Service<
  ConnectionTokens,
  {
    /** Stores the tokens of an authorization or renewal, with the next generation. */
    readonly put: (
      row: Pick<ConnectionRow, "id" | "workspace_id">,
      oauth: StoredOAuth,
      tokens: Redacted.Redacted<ConnectionTokenPair>
    ) => Effect.Effect<void>
    readonly read: (row: ConnectionRow) => Effect.Effect<Option.Option<Redacted.Redacted<ConnectionTokenPair>>>
    /** Call it before a renewal. Records that the outcome of the renewal is unknown. */
    readonly renewing: (row: ConnectionRow, oauth: StoredOAuth) => Effect.Effect<void>
    /** Clears the record of a renewal that changed nothing at the server. */
    readonly settled: (row: ConnectionRow, oauth: StoredOAuth) => Effect.Effect<void>
    readonly fault: (id: ConnectionId, code: ConnectionOAuthFault["code"], message: string) => Effect.Effect<void>
    /** Deletes tokens that are no longer needed. */
    readonly forget: (id: ConnectionId) => Effect.Effect<void>
    /**
     * Finds a revoked Connection whose tokens may still be valid at the authorization server, even if the Connection has been
     * removed.
     */
    readonly ended: (id: ConnectionId) => Effect.Effect<ConnectionRow | undefined>
  }
>()("svc/actors/inputs/connection/ConnectionTokens") {
  static readonly layer = Layer.effect(
    ConnectionTokens,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      return ConnectionTokens.of({
        put: Effect.fn("ConnectionTokens.put")(function* (row, oauth, tokens) {
          const sealed = yield* vault.seal(place(row), Redacted.make(encodeTokens(Redacted.value(tokens))))
          yield* sql`UPDATE connections SET oauth = ${OAuthJson.write(oauth)}, oauth_fault = NULL, sealed_tokens = ${sealed},
            token_generation = token_generation + 1, updated_at = ${yield* now} WHERE id = ${row.id}`
        }, Effect.orDie),
        read: Effect.fn("ConnectionTokens.read")(function* (row) {
          if (row.sealed_tokens === null) return Option.none()
          const text = yield* vault.openText(place(row), row.sealed_tokens)
          return Option.some(Redacted.make(yield* decodeTokens(Redacted.value(text))))
        }, Effect.orDie),
        renewing: Effect.fnUntraced(function* (row, oauth) {
          const marked = OAuthJson.write({ ...oauth, renewingSince: yield* now })
          yield* sql`UPDATE connections SET oauth = ${marked} WHERE id = ${row.id}`
        }, Effect.orDie),
        settled: Effect.fnUntraced(function* (row, oauth) {
          yield* sql`UPDATE connections SET oauth = ${OAuthJson.write(oauth)} WHERE id = ${row.id}`
        }, Effect.orDie),
        fault: Effect.fnUntraced(function* (id, code, message) {
          const fault: ConnectionOAuthFault = { code, message, at: yield* now }
          yield* sql`UPDATE connections SET oauth_fault = ${OAuthFaultJson.write(fault)} WHERE id = ${id}`
        }, Effect.orDie),
        forget: Effect.fnUntraced(function* (id) {
          yield* sql`UPDATE connections SET sealed_tokens = NULL, oauth_fault = NULL WHERE id = ${id}`
        }, Effect.orDie),
        ended: Effect.fnUntraced(function* (id) {
          const rows = yield* ConnectionRow.rows(sql)`SELECT * FROM connections
            WHERE id = ${id} AND status = 'revoked' AND sealed_tokens IS NOT NULL`
          return rows[0]
        }, Effect.orDie)
      })
    })
  )
}
