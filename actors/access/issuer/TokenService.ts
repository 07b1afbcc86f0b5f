import { Context, Effect, Layer, type Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Audit } from "../../base/audit/Audit.ts"
import { AuthorizationCodes, type PresentedCode } from "./AuthorizationCodes.ts"
import type { Client } from "./Client.ts"
import { Clients } from "./Clients.ts"
import { DeviceCodes } from "./DeviceCodes.ts"
import { type Grant, Grants, type RevocationReason } from "./Grants.ts"
import { liveAuthority } from "./LiveAuthority.ts"
import { failClosed, type OAuthError, refuse } from "./OAuthError.ts"
import { RefreshTokens } from "./RefreshTokens.ts"
import { isAtRegisteredAddress } from "./RemovedRedirects.ts"
import { isSubset } from "./Scopes.ts"
import { type IssuedTokens, TokenIssuance } from "./TokenIssuance.ts"

export interface RefreshRequest {
  readonly token: Redacted.Redacted
  /** Restricts the access token to these scopes, which must be granted. */
  readonly scopes: ReadonlyArray<string> | undefined
  readonly resource: string | undefined
}

/** A result that must be committed even if it is a refusal, because a refusal may revoke something. */
type Settled = Result.Result<IssuedTokens, OAuthError>

interface Exchange {
  readonly client: Client
  readonly grant: Grant
  readonly scopes: ReadonlyArray<string>
  readonly resource: string | undefined
  readonly nonce: string | undefined
  /** Uses up the presented credential. Returns the refresh token to issue, if any. */
  readonly spend: Effect.Effect<Redacted.Redacted | undefined, SqlError>
}

const grantEnded = refuse("invalid_grant", "The grant has ended. Ask the person to sign in again.")

/**
 * The operations of the token endpoint. Each operation runs in one transaction, which uses up the presented credential if
 * and only if it issues tokens.
 */
export class TokenService extends Context.Service<
  TokenService,
  {
    /** Exchanges a code for tokens. Reusing a code revokes everything issued for it. */
    readonly exchangeCode: (
      client: Client,
      presented: Omit<PresentedCode, "clientId">,
      resource: string | undefined
    ) => Effect.Effect<IssuedTokens, OAuthError>
    /**
     * Issues new tokens for a refresh token. Reusing a refresh token revokes its family. If the authority cannot be read,
     * the refresh token is not used up.
     */
    readonly refresh: (client: Client, request: RefreshRequest) => Effect.Effect<IssuedTokens, OAuthError>
    readonly exchangeDeviceCode: (
      client: Client,
      deviceCode: Redacted.Redacted,
      resource: string | undefined
    ) => Effect.Effect<IssuedTokens, OAuthError>
  }
>()("svc/actors/access/issuer/TokenService") {
  static readonly layer = Layer.effect(
    TokenService,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const clients = yield* Clients
      const codes = yield* AuthorizationCodes
      const devices = yield* DeviceCodes
      const grants = yield* Grants
      const refreshTokens = yield* RefreshTokens
      const issuance = yield* TokenIssuance

      const endGrant = Effect.fnUntraced(function* (grantId: string, reason: RevocationReason) {
        const grant = yield* grants.findLive(sql, grantId)
        yield* grants.revoke(grantId, reason)
        if (grant === undefined) return
        yield* audit.append({
          workspaceId: grant.workspaceId ?? null,
          actor: { kind: "service" },
          action: "identity.grant.revoke",
          target: { kind: "oauth_grant", id: grantId },
          data: { reason, clientId: grant.clientId }
        })
      })

      /** Checks the current authority of the grant, and issues tokens only if it is valid. */
      const exchange = Effect.fnUntraced(function* (
        request: Exchange
      ): Effect.fn.Return<Settled, SqlError | OAuthError> {
        const { client, grant } = request
        const authority = yield* liveAuthority(sql, client, grant.subject, grant.workspaceId)
        if (Result.isFailure(authority)) {
          if (authority.failure.lasting) yield* endGrant(grant.id, "authority_ended")
          return Result.fail(grantEnded)
        }
        if (!isAtRegisteredAddress(client, grant)) {
          yield* endGrant(grant.id, "redirect_removed")
          return Result.fail(grantEnded)
        }
        // Drops scopes that the operator or an apply has since revoked from the client.
        const scopes = request.scopes.filter((scope) => client.scopes.includes(scope))
        const refreshToken = yield* request.spend
        return Result.succeed(
          yield* issuance.issue({
            client,
            grant,
            authority: authority.success,
            scopes,
            asked: request.scopes,
            resource: request.resource ?? (grant.scopes.includes("openid") ? undefined : grant.resource),
            nonce: request.nonce,
            refreshToken
          })
        )
      })

      const firstRefreshToken = (client: Client, grant: Grant) =>
        grant.scopes.includes("offline_access") && client.grantTypes.includes("refresh_token")
          ? refreshTokens.begin(grant)
          : Effect.undefined

      /** Runs a decision in one transaction. If the decision is a refusal, still commits the revocations that it made. */
      const settle = (decision: Effect.Effect<Settled, SqlError | OAuthError>) =>
        Effect.flatMap(failClosed(sql.withTransaction(decision)), Effect.fromResult)

      /**
       * Reads the client inside the transaction, because the client may have been retired or registered again since it
       * authenticated.
       */
      const present = Effect.fnUntraced(function* (client: Client) {
        const found = yield* clients.find(sql, client.id)
        return found._tag === "None" ? undefined : found.value
      })

      const exchangeCode = Effect.fn("TokenService.exchangeCode")(function* (
        asked: Client,
        presented: Omit<PresentedCode, "clientId">,
        resource: string | undefined
      ): Effect.fn.Return<Settled, SqlError | OAuthError> {
        const client = yield* present(asked)
        if (client === undefined) return Result.fail(grantEnded)
        const redemption = yield* codes.redeem({ ...presented, clientId: client.id })
        if (redemption.kind === "refused") return Result.fail(refuse("invalid_grant", redemption.why))
        if (redemption.kind === "reused") {
          yield* endGrant(redemption.grantId, "code_reused")
          return Result.fail(refuse("invalid_grant", "The code was used before. Everything issued for it has ended."))
        }
        const grant = yield* grants.findLive(sql, redemption.grantId)
        if (grant === undefined) return Result.fail(grantEnded)
        return yield* exchange({
          client,
          grant,
          scopes: grant.scopes,
          resource,
          nonce: redemption.nonce,
          spend: firstRefreshToken(client, grant)
        })
      })

      const refresh = Effect.fn("TokenService.refresh")(function* (
        asked: Client,
        request: RefreshRequest
      ): Effect.fn.Return<Settled, SqlError | OAuthError> {
        const client = yield* present(asked)
        if (client === undefined) return Result.fail(grantEnded)
        const found = yield* refreshTokens.lookup(client.id, request.token)
        if (found.kind === "unknown") {
          return Result.fail(refuse("invalid_grant", "The refresh token is unknown, expired or revoked."))
        }
        if (found.kind === "reused") {
          yield* endGrant(found.grantId, "refresh_reused")
          return Result.fail(refuse("invalid_grant", "The refresh token was used before. Its whole family has ended."))
        }
        const grant = yield* grants.findLive(sql, found.grantId)
        if (grant === undefined) return Result.fail(grantEnded)
        const scopes = request.scopes ?? grant.scopes
        if (!isSubset(scopes, grant.scopes)) {
          return Result.fail(refuse("invalid_scope", "The scope holds more than was granted."))
        }
        return yield* exchange({
          client,
          grant,
          scopes,
          resource: request.resource,
          nonce: undefined,
          spend: refreshTokens.rotate(grant, request.token)
        })
      })

      const exchangeDeviceCode = Effect.fn("TokenService.exchangeDeviceCode")(function* (
        asked: Client,
        deviceCode: Redacted.Redacted,
        resource: string | undefined
      ): Effect.fn.Return<Settled, SqlError | OAuthError> {
        const client = yield* present(asked)
        if (client === undefined) return Result.fail(grantEnded)
        const polled = yield* devices.poll(client.id, deviceCode)
        switch (polled.kind) {
          case "unknown":
            return Result.fail(refuse("invalid_grant", "The device code is unknown."))
          case "expired":
            return Result.fail(refuse("expired_token", "The device code has expired. Start again."))
          case "denied":
            return Result.fail(refuse("access_denied", "The person refused."))
          case "pending":
            return Result.fail(refuse("authorization_pending", "The person has not decided yet."))
          case "too_fast":
            return Result.fail(refuse("slow_down", "Poll 5 seconds less often than before."))
          case "used": {
            yield* endGrant(polled.grantId, "code_reused")
            return Result.fail(refuse("invalid_grant", "The device code was used before."))
          }
          case "approved": {
            const grant = yield* grants.findLive(sql, polled.grantId)
            if (grant === undefined) return Result.fail(grantEnded)
            return yield* exchange({
              client,
              grant,
              scopes: grant.scopes,
              resource,
              nonce: undefined,
              spend: Effect.andThen(devices.markUsed(deviceCode), firstRefreshToken(client, grant))
            })
          }
        }
      })

      return TokenService.of({
        exchangeCode: (client, presented, resource) => settle(exchangeCode(client, presented, resource)),
        refresh: (client, request) => settle(refresh(client, request)),
        exchangeDeviceCode: (client, deviceCode, resource) => settle(exchangeDeviceCode(client, deviceCode, resource))
      })
    })
  )
}
