import { Duration, Effect, Option, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import { type AuthorizationServer, OAuthFailure } from "../../../runner/oauth/AuthorizationServer.ts"
import { OAuthClient } from "../../../runner/oauth/OAuthClient.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import { type ConnectionTokenPair, ConnectionTokens, oauthFaultOf, oauthOf } from "./ConnectionTokens.ts"
import { OAuthHelpers } from "./OAuthHelpers.ts"

/** Delay between attempts to revoke tokens (`retryAfter`), and time after which svc gives up (`givenUpAfter`). */
const retryAfter = Duration.hours(1)
const givenUpAfter = retention.tokenRevocation.after

const since = (time: string, at: string) => Date.parse(at) - Date.parse(time)

const revoked = Effect.fnUntraced(function* (server: AuthorizationServer, tokens: ConnectionTokenPair) {
  const client = yield* OAuthClient
  // Revokes the refresh token, because most servers then revoke the whole grant. If only the access token were revoked, it
  // could still be renewed.
  if (tokens.refreshToken !== undefined) {
    yield* client.revoke(server, Redacted.make(tokens.refreshToken), "refresh_token")
  }
  return yield* client.revoke(server, Redacted.make(tokens.accessToken), "access_token")
})

/**
 * Revokes the tokens of an ended Connection at the authorization server. The tokens are kept sealed until the server accepts
 * the revocation, for at most a week. Failures are shown to people, and the revocation is retried even after a restart.
 */
export const revokeTokens = Effect.fn("Connection.revokeTokens")(function* (id: ConnectionId, insist: boolean) {
  const sql = yield* SqlClient.SqlClient
  const store = yield* ConnectionTokens
  const audit = yield* Audit
  const row = yield* store.ended(id)
  const oauth = row === undefined ? undefined : oauthOf(row)
  if (row === undefined || oauth === undefined) return
  const at = yield* now
  const fault = oauthFaultOf(row)
  if (!insist && fault?.code === "revocation_failed" && since(fault.at, at) < Duration.toMillis(retryAfter)) return
  const tokens = yield* store.read(row)
  if (Option.isNone(tokens)) return
  const declared = (yield* OAuthHelpers).find(({ helper }) => helper.id === oauth.helperId)
  const asked =
    declared?.server.issuer === oauth.issuer
      ? revoked(declared.server, Redacted.value(tokens.value))
      : Effect.fail(
          new OAuthFailure({
            reason: "unusable",
            message: `The operator declares the helper ${oauth.helperId} no more, or for another server.`
          })
        )
  const outcome = yield* Effect.result(asked)
  const ended = (action: string, data: { readonly outcome: string }) =>
    Effect.andThen(
      store.forget(id),
      audit.append({
        workspaceId: row.workspace_id,
        actor: serviceContext.actor,
        action,
        target: { kind: "connection", id },
        data: { provider: row.provider, displayName: row.display_name, helperId: oauth.helperId, ...data }
      })
    ).pipe(transaction(sql))
  if (Result.isSuccess(outcome)) return yield* ended("connection.tokens.revoke", { outcome: outcome.success })
  if (since(row.updated_at, at) > Duration.toMillis(givenUpAfter)) {
    return yield* ended("connection.tokens.abandon", { outcome: outcome.failure.message })
  }
  yield* store.fault(
    id,
    "revocation_failed",
    `The Connection has ended, but its tokens could not be revoked: ${outcome.failure.message} It is tried again every hour for a week; end the access at ${new URL(oauth.issuer).host} if that is too long.`
  )
})
