import { Clock, Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { isWellFormed, secretHash } from "../../base/credential/BearerSecret.ts"
import { CommitCache } from "../../base/database/CommitCache.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { now } from "../../base/Identity.ts"
import type { Client } from "./Client.ts"
import { Clients } from "./Clients.ts"
import { type Grant, Grants } from "./Grants.ts"
import { grantIdOf, groupsOf } from "./TokenIssuance.ts"
import { interfacePermissions } from "./InterfacePermissions.ts"
import { IssuerSettings } from "./IssuerSettings.ts"
import { activeMemberships, type LiveAuthority, liveAuthority } from "./LiveAuthority.ts"
import { failClosed, type OAuthError, refuse } from "./OAuthError.ts"
import { isAtRegisteredAddress } from "./RemovedRedirects.ts"
import { namedClaims } from "./RequestedClaims.ts"
import { RefreshTokens } from "./RefreshTokens.ts"
import { decodeScopes } from "./Scopes.ts"
import { SigningKeys } from "./SigningKeys.ts"
import { StaticClients } from "./StaticClients.ts"
import { svcClaim, userInfoClaims } from "./TokenClaims.ts"
import { OAuthTokenRow } from "./GrantRow.ts"

type Claims = Readonly<Record<string, Schema.Json>>

/** A valid access token whose grant, client, account, membership and Capsule are also valid. */
export interface GoodToken {
  readonly id: string
  readonly client: Client
  readonly grant: Grant
  readonly scopes: ReadonlyArray<string>
  readonly authority: LiveAuthority
  readonly audience: string
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
}

const ResourceClaims = Schema.Struct({
  aud: Schema.String,
  client_id: Schema.String,
  scope: Schema.String,
  iat: Schema.Int,
  exp: Schema.Int,
  jti: Schema.String
})
const decodeResourceClaims = Schema.decodeUnknownOption(ResourceClaims)

const seconds = (iso: string) => Math.floor(Date.parse(iso) / 1000)

/** Checks the current validity of presented tokens. This service only reads, and every commit clears its cache. */
export class TokenInspection extends Context.Service<
  TokenInspection,
  {
    /**
     * Checks an opaque access token of this issuer. Fails with `invalid_token`, or with `temporarily_unavailable` if the database
     * cannot be read.
     */
    readonly accessToken: (token: Redacted.Redacted) => Effect.Effect<GoodToken, OAuthError>
    /** Returns the UserInfo claims. Fails with `insufficient_scope` if the token does not have the scope `openid`. */
    readonly userInfo: (token: Redacted.Redacted) => Effect.Effect<Claims, OAuthError>
    /**
     * Returns the introspection response (RFC 7662) for a confidential client: `{active: false}` for tokens that it may not
     * inspect.
     */
    readonly introspect: (by: Client, token: Redacted.Redacted) => Effect.Effect<Claims, OAuthError>
    /**
     * Revokes a token (RFC 7009). If the token is unknown or belongs to another client, nothing changes and there is no
     * error. Revoking a refresh token revokes its grant.
     */
    readonly revoke: (by: Client, token: Redacted.Redacted) => Effect.Effect<void, OAuthError>
  }
>()("svc/actors/access/issuer/TokenInspection") {
  static readonly layer = Layer.effect(
    TokenInspection,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const clients = yield* Clients
      const grants = yield* Grants
      const keys = yield* SigningKeys
      const refreshTokens = yield* RefreshTokens
      const { issuer } = yield* IssuerSettings
      const registered = yield* StaticClients

      /** Returns the grant of a token, and everything that the grant depends on. */
      const standing = Effect.fnUntraced(function* (grantId: string, clientId: string) {
        const grant = yield* grants.findLive(read, grantId)
        const client = yield* clients.find(read, clientId)
        if (grant === undefined || Option.isNone(client) || grant.clientId !== clientId) return undefined
        if (!isAtRegisteredAddress(client.value, grant)) return undefined
        const live = yield* liveAuthority(read, client.value, grant.subject, grant.workspaceId)
        return Result.isFailure(live) ? undefined : { grant, client: client.value, authority: live.success }
      })

      const memory = yield* CommitCache
      // Cache only the token, and check its expiry on every use. Read everything that the token depends on each time,
      // because clients and the operator's policy can be reloaded without a commit.
      const unrevoked = memory.untilCommit((hash) =>
        Effect.map(
          OAuthTokenRow.some(
            read,
            "id",
            "grant_id",
            "client_id",
            "scopes",
            "created_at",
            "expires_at"
          )`SELECT id, grant_id, client_id, scopes, created_at, expires_at
            FROM oauth_access_tokens WHERE secret_hash = ${hash} AND revoked_at IS NULL`,
          ([row]) => row && { ...row, expiresMillis: Date.parse(row.expires_at) }
        )
      )

      const opaque = Effect.fnUntraced(function* (
        token: Redacted.Redacted
      ): Effect.fn.Return<GoodToken | undefined, SqlError> {
        if (!isWellFormed("oauthAccess", Redacted.value(token))) return undefined
        const row = yield* unrevoked(secretHash(token))
        if (row === undefined || row.expiresMillis <= (yield* Clock.currentTimeMillis)) return undefined
        const found = yield* standing(row.grant_id, row.client_id)
        if (found === undefined) return undefined
        return {
          ...found,
          id: row.id,
          scopes: decodeScopes(row.scopes).filter((scope) => found.client.scopes.includes(scope)),
          audience: issuer,
          issuedAt: seconds(row.created_at),
          expiresAt: seconds(row.expires_at)
        }
      })

      /** Returns the scopes of a resource token that are still valid, or `undefined` if the token has lost its authority. */
      const stillGood = Effect.fnUntraced(function* (
        { client, grant }: { readonly client: Client; readonly grant: Grant },
        resource: string,
        scopes: ReadonlyArray<string>
      ) {
        const server = registered.resourceServers.get(resource)
        if (server !== undefined) {
          return client.resources.includes(resource)
            ? scopes.filter((scope) => server.scopes.includes(scope))
            : undefined
        }
        const permissions = yield* interfacePermissions(read, { ...grant, client, resource })
        const left = scopes.filter((scope) => permissions.includes(scope))
        return left.length === 0 ? undefined : left
      })

      const forResource = Effect.fnUntraced(function* (
        token: Redacted.Redacted
      ): Effect.fn.Return<GoodToken | undefined, SqlError> {
        const verified = yield* keys.verify(Redacted.value(token))
        if (verified?.type !== "at+jwt") return undefined
        const claims = decodeResourceClaims(verified.claims)
        if (Option.isNone(claims) || claims.value.exp * 1000 <= (yield* Clock.currentTimeMillis)) return undefined
        const { aud, client_id, exp, iat, jti, scope } = claims.value
        const found = yield* standing(grantIdOf(jti), client_id)
        if (found === undefined) return undefined
        const scopes = yield* stillGood(found, aud, scope.split(" "))
        return scopes === undefined
          ? undefined
          : { ...found, id: jti, scopes, audience: aud, issuedAt: iat, expiresAt: exp }
      })

      const accessToken = Effect.fn("TokenInspection.accessToken")(function* (token: Redacted.Redacted) {
        const good = yield* failClosed(opaque(token))
        return good ?? (yield* refuse("invalid_token", "The access token is unknown, expired or revoked."))
      })

      const refreshClaims = Effect.fnUntraced(function* (
        by: Client,
        token: Redacted.Redacted
      ): Effect.fn.Return<Claims | undefined, SqlError> {
        const found = yield* refreshTokens.lookup(by.id, token)
        if (found.kind !== "good") return undefined
        const live = yield* standing(found.grantId, by.id)
        if (live === undefined) return undefined
        return { active: true, client_id: by.id, sub: live.grant.subject, scope: live.grant.scopes.join(" ") }
      })

      const introspect = Effect.fn("TokenInspection.introspect")(function* (by: Client, token: Redacted.Redacted) {
        const good = (yield* opaque(token)) ?? (yield* forResource(token))
        if (good === undefined) return (yield* refreshClaims(by, token)) ?? { active: false }
        if (good.client.id !== by.id && !by.guards.includes(good.audience)) return { active: false }
        return {
          active: true,
          iss: issuer,
          sub: good.grant.subject,
          aud: good.audience,
          client_id: good.client.id,
          scope: good.scopes.join(" "),
          token_type: "Bearer",
          iat: good.issuedAt,
          exp: good.expiresAt,
          jti: good.id,
          ...svcClaim(good.authority)
        }
      })

      const revoke = Effect.fnUntraced(function* (by: Client, token: Redacted.Redacted) {
        const text = Redacted.value(token)
        if (isWellFormed("oauthAccess", text)) {
          yield* sql`UPDATE oauth_access_tokens SET revoked_at = ${yield* now}
            WHERE secret_hash = ${secretHash(token)} AND client_id = ${by.id} AND revoked_at IS NULL`
        } else if (isWellFormed("oauthRefresh", text)) {
          const found = yield* refreshTokens.lookup(by.id, token)
          if (found.kind !== "unknown") yield* grants.revoke(found.grantId, "revoked_by_client")
        } else if ((yield* keys.verify(text))?.type === "at+jwt") {
          return yield* refuse(
            "unsupported_token_type",
            "Tokens of resource servers end by themselves within 5 minutes."
          )
        }
      })

      return TokenInspection.of({
        accessToken,
        userInfo: Effect.fn("TokenInspection.userInfo")(function* (token) {
          const { authority, grant, scopes } = yield* accessToken(token)
          if (!scopes.includes("openid")) {
            return yield* refuse("insufficient_scope", "UserInfo needs an access token with the scope openid.")
          }
          const memberships =
            authority.workspace !== undefined
              ? [authority.workspace.id]
              : scopes.includes("workspaces")
                ? yield* failClosed(activeMemberships(read, grant.subject))
                : undefined
          const names = namedClaims(scopes, grant.claims.userinfo)
          const groups = names.includes("groups")
            ? yield* failClosed(groupsOf(read, grant.subject, grant.workspaceId))
            : []
          return userInfoClaims(authority, names, groups, memberships)
        }),
        introspect: (by, token) => failClosed(introspect(by, token)),
        revoke: Effect.fn("TokenInspection.revoke")((by, token) => failClosed(sql.withTransaction(revoke(by, token))))
      })
    })
  )
}
