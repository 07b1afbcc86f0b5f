import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { OAuthClient } from "../../../runner/oauth/OAuthClient.ts"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { StartAuthorization } from "../../../schema/commands/ConnectionCommands.ts"
import type { ConnectionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { ConnectionAuthorizations } from "./ConnectionAuthorizations.ts"
import { checkExpiry, checkUse } from "./ConnectionRules.ts"
import { ConnectionStore, statusRemedy } from "./ConnectionStore.ts"
import { oauthOf } from "./ConnectionTokens.ts"
import { findHelper } from "./OAuthHelpers.ts"
import type { OAuthFailure } from "../../../runner/oauth/AuthorizationServer.ts"

/** Explains the authorization server's error to the person who is setting up a Connection. */
export const oauthRefusal = ({ error, message, reason }: OAuthFailure, next: string): ApiError => {
  const said = `${message} ${next}`
  switch (reason) {
    case "denied":
      return error === "access_denied"
        ? new ApiError({ code: "permission_denied", message: said })
        : failedPrecondition(said)
    case "unreachable":
    case "unanswered":
      return new ApiError({ code: "verification_unavailable", message: said })
    case "unusable":
      return failedPrecondition(`${said} The operator of this server can look at the helper's declaration.`)
    case "refused":
    case "invalid":
      return failedPrecondition(said)
  }
}

/**
 * Returns the Connection that will receive new tokens. Fails unless this helper created the Connection and the Connection
 * still exists.
 */
const renewed = Effect.fnUntraced(function* (id: ConnectionId, workspaceId: WorkspaceId, helperId: string) {
  const connections = yield* ConnectionStore
  const row = yield* connections.find(id)
  if (row === undefined || row.workspace_id !== workspaceId) return yield* notFound("Connection")
  if (oauthOf(row)?.helperId !== helperId) {
    return yield* failedPrecondition(`connectionId: the Connection was not made with the helper ${helperId}.`)
  }
  if (row.status === "revoked" || row.status === "unconfirmed") {
    return yield* failedPrecondition(`The Connection is ${row.status}. ${statusRemedy(row.status)}`)
  }
  return row
})

/** Starts a person's authorization at another server. The Connection is created only when the person returns with a response. */
export const startAuthorization = Effect.fn("Connection.startAuthorization")(function* (
  id: ConnectionId,
  context: CommandContext,
  { renews, redirectUri, request, sessionId, helperId }: StartAuthorization
) {
  const sql = yield* SqlClient.SqlClient
  const client = yield* OAuthClient
  const authorizations = yield* ConnectionAuthorizations
  const audit = yield* Audit
  const declared = yield* findHelper(helperId)
  const { helper, parameters, server } = declared
  const checked = Effect.gen(function* () {
    const row = renews ? yield* renewed(id, request.workspaceId, helperId) : undefined
    yield* checkExpiry(request.expiresAt)
    yield* checkUse(request.workspaceId, helper.kind, request.use)
    return row
  })
  // Performs the check early, before svc resolves the other server's addresses. The transaction repeats it.
  yield* checked
  const proof = yield* authorizations.proof
  const authorizationUrl = yield* client
    .authorizationUrl(server, {
      ...proof,
      state: Redacted.value(proof.state),
      redirectUri,
      scopes: helper.scopes,
      parameters
    })
    .pipe(Effect.mapError((failure) => oauthRefusal(failure, "Nothing was started.")))
  const expiresAt = yield* Effect.gen(function* () {
    const row = yield* checked
    const displayName = request.displayName ?? row?.display_name ?? helper.displayName
    const until = yield* authorizations.begin({
      ...proof,
      workspaceId: request.workspaceId,
      connectionId: id,
      helperId,
      issuer: server.issuer,
      redirectUri,
      subject: context.actor.subject ?? "",
      sessionId,
      draft: {
        renews,
        displayName,
        ...(request.use === undefined ? {} : { use: request.use }),
        ...(request.expiresAt === undefined ? {} : { expiresAt: request.expiresAt })
      }
    })
    yield* audit.append({
      workspaceId: request.workspaceId,
      actor: context.actor,
      action: "connection.authorize",
      target: { kind: "connection", id },
      data: { provider: helper.provider, displayName, helperId, issuer: server.issuer },
      requestId: context.requestId
    })
    return until
  }).pipe(transaction(sql))
  return { authorizationUrl, expiresAt }
})
