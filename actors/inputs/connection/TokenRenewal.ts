import { Effect, Option, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { GrantedTokens } from "../../../runner/oauth/AuthorizationServer.ts"
import { OAuthClient } from "../../../runner/oauth/OAuthClient.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import { checkCredentials } from "./ConnectionRules.ts"
import { reportFailing } from "./ConnectionNotices.ts"
import { ConnectionStore } from "./ConnectionStore.ts"
import { ConnectionTokens, oauthOf, tokenPair } from "./ConnectionTokens.ts"
import { CredentialsInUse } from "./CredentialsInUse.ts"
import { type DeclaredHelper, OAuthHelpers, valuesOf } from "./OAuthHelpers.ts"
import { storedOAuth } from "./TokenLifetime.ts"
import {
  reconnect,
  refreshTokenAfter,
  renewalMeans,
  renewalNeed,
  renewalSetback,
  stopsUse,
  takesTokens
} from "./TokenRenewalDecision.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"

/** Stores the new tokens, unless the Connection was revoked or changed during the request. */
const takeOver = Effect.fnUntraced(function* (
  id: ConnectionId,
  asked: ConnectionRow,
  declared: DeclaredHelper,
  former: Redacted.Redacted<{ readonly refreshToken?: string | undefined }>,
  given: GrantedTokens
) {
  const connections = yield* ConnectionStore
  const store = yield* ConnectionTokens
  const held = yield* CredentialsInUse
  const row = yield* connections.find(id)
  if (row === undefined || !takesTokens(asked, row)) return false
  const at = yield* now
  const tokens = { ...given, refreshToken: refreshTokenAfter(given.refreshToken, Redacted.value(former)) }
  yield* held.keepTokens(row)
  yield* connections.renew(row, { values: valuesOf(declared, tokens.accessToken), files: [] })
  const scopes = given.scopes ?? oauthOf(row)?.scopes
  yield* store.put(row, storedOAuth(declared, { ...tokens, scopes }, at), tokenPair(tokens))
  return true
})

/**
 * Renews the access token of a Connection shortly before it expires. Returns the reason why the Connection cannot be used,
 * or `undefined`. The mailbox handles commands one at a time, so a second renewal finds the new tokens. The start of a
 * renewal is recorded before the request. If this process dies between the server's response and the commit, the new tokens
 * are lost, and the next renewal tries the old refresh token again. Servers that do not rotate refresh tokens, or have a
 * grace period, accept it. Other servers treat it as a replay and revoke the whole grant, so a person must authorise the
 * Connection again. While the server is unreachable, the current access token is used until it expires.
 */
export const renewTokens = Effect.fn("Connection.renewTokens")(function* (id: ConnectionId) {
  const sql = yield* SqlClient.SqlClient
  const connections = yield* ConnectionStore
  const store = yield* ConnectionTokens
  const client = yield* OAuthClient
  const audit = yield* Audit
  const killPoint = yield* KillPoint
  const at = yield* now
  const need = renewalNeed(yield* connections.find(id), at)
  if (need.kind === "none") return undefined
  if (need.kind === "refused") return need.why
  const { oauth, row } = need
  const failed = Effect.fnUntraced(function* (message: string, lasting = false) {
    yield* Effect.gen(function* () {
      if (lasting) yield* connections.setStatus(row, "error")
      yield* reportFailing(sql, row, lasting ? "refresh_refused" : "refresh_failed")
      yield* store.fault(id, lasting ? "refresh_refused" : "refresh_failed", message)
      yield* audit.append({
        workspaceId: row.workspace_id,
        actor: serviceContext.actor,
        action: "connection.renewal.failed",
        target: { kind: "connection", id },
        data: { provider: row.provider, displayName: row.display_name, reason: message }
      })
    }).pipe(transaction(sql))
    return stopsUse(oauth, lasting, at) ? message : undefined
  })

  const tokens = yield* store.read(row)
  const helper = (yield* OAuthHelpers).find((one) => one.helper.id === oauth.helperId)
  const means = renewalMeans(oauth, Option.getOrUndefined(tokens), helper)
  if (Option.isNone(tokens) || means === undefined) {
    return yield* failed(
      `The access token of the Connection ${JSON.stringify(row.display_name)} cannot be renewed: the operator declares the helper ${oauth.helperId} no more, or for another server.`
    )
  }
  const { declared, refreshToken } = means
  yield* store.renewing(row, oauth)
  const given = yield* Effect.result(client.refresh(declared.server, refreshToken))
  if (Result.isFailure(given)) {
    const { hadNoEffect, isLasting, message } = renewalSetback(row.display_name, oauth, given.failure)
    if (hadNoEffect) yield* store.settled(row, oauth)
    return yield* failed(message, isLasting)
  }
  yield* killPoint("connection.renewed")
  const unfit = yield* Effect.flip(
    checkCredentials({
      provider: row.provider,
      kind: row.kind,
      recipeId: row.recipe_id,
      authMode: row.auth_mode,
      values: valuesOf(declared, given.success.accessToken)
    })
  ).pipe(Effect.option)
  if (Option.isSome(unfit)) return yield* failed(`${unfit.value.message} ${reconnect}`, true)
  if (yield* takeOver(id, row, declared, tokens.value, given.success).pipe(transaction(sql))) return undefined
  yield* Effect.ignore(client.revoke(declared.server, given.success.accessToken, "access_token"))
  return `The Connection ${JSON.stringify(row.display_name)} was changed while its access token was renewed. Start again.`
})
