import { Duration, Effect, Option, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { type CreatedApp, createdApp } from "../../../runner/forge/AppRegistration.ts"
import type { ForgeFailure } from "../../../runner/forge/Forge.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import {
  type AuthorizationServer,
  type GrantedTokens,
  OAuthFailure
} from "../../../runner/oauth/AuthorizationServer.ts"
import { OAuthClient } from "../../../runner/oauth/OAuthClient.ts"
import type { CreateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { defaultConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import { type ConnectionId, RunId } from "../../../schema/records/Ids.ts"
import { ConnectionCommands, type FinishAppRegistration } from "../../../schema/commands/ConnectionCommands.ts"
import { type CommandContext, serviceContext } from "../../../schema/commands/Command.ts"
import { CredentialOrigin } from "../../../schema/records/CredentialOrigin.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { serve } from "../../Actor.ts"
import { Audit, type AuditData } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { transacted, transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { ExclusiveWork } from "../../base/node/ExclusiveWork.ts"
import { answererProblem, startAgain } from "./AuthorizationProblem.ts"
import { ConnectionAuthorizations, type OpenAuthorization, stateOf } from "./ConnectionAuthorizations.ts"
import { changedMeanwhile, removeConnection, revokeConnection, updateConnection } from "./ConnectionChanges.ts"
import { reportFailing } from "./ConnectionNotices.ts"
import { checkConfirmation } from "./ConnectionOrigins.ts"
import {
  checkConnection,
  checkCredentials,
  checkExpiry,
  checkUse,
  defaultAuthMode,
  defaultRecipeId
} from "./ConnectionRules.ts"
import {
  ConnectionStore,
  effectiveStatus,
  proposedOriginsOf,
  isUsable,
  statusRemedy,
  toConnection
} from "./ConnectionStore.ts"
import { CredentialTest } from "./CredentialTest.ts"
import { authorise, finishAuthorization, nothingOpen } from "./FinishAuthorization.ts"
import { isProvidedTo, notProvided, providedOf } from "./PoolCredentials.ts"
import { appRegistration, startAppRegistration } from "./StartAppRegistration.ts"
import { startAuthorization } from "./StartAuthorization.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { type ConnectionTokenPair, ConnectionTokens, oauthFaultOf, oauthOf, tokenPair } from "./ConnectionTokens.ts"
import { appKeyFile } from "./CredentialRecipes.ts"
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

const load = Effect.fnUntraced(function* (id: ConnectionId) {
  const row = yield* (yield* ConnectionStore).find(id)
  return row === undefined ? yield* notFound("Connection") : row
})

const projected = Effect.fnUntraced(function* (id: ConnectionId) {
  return toConnection(yield* load(id), yield* now)
})

const audited = Effect.fnUntraced(function* (
  context: CommandContext,
  row: ConnectionRow,
  action: string,
  data: AuditData = {}
) {
  yield* (yield* Audit).append({
    workspaceId: row.workspace_id,
    actor: context.actor,
    action,
    target: { kind: "connection", id: row.id },
    data: { provider: row.provider, displayName: row.display_name, ...data },
    requestId: context.requestId
  })
})

const checkProvided = Effect.fnUntraced(function* (
  workspaceId: ConnectionRow["workspace_id"],
  providedBy: CreateConnection["providedBy"]
) {
  if (providedBy === undefined || (yield* isProvidedTo(workspaceId, providedBy))) return
  return yield* failedPrecondition(notProvided(providedBy))
})

/**
 * Runs a command that spans several transactions, and ensures that no other server runs such a command for the same
 * Connection. Otherwise two servers could send the same refresh token, and the authorization server would revoke the grant.
 */
const oneAtATime = (id: ConnectionId) =>
  Effect.fnUntraced(function* <A, E, R>(command: Effect.Effect<A, E, R>) {
    return yield* (yield* ExclusiveWork).locked(`connection ${id}`)(command)
  })

/** Returns the code in the response, or `undefined` if the response does not contain exactly one well-formed code. */
const registrationCode = (search: string): Redacted.Redacted | undefined => {
  const [code, ...others] = new URLSearchParams(search).getAll("code")
  return code === undefined || others.length > 0 || !/^[A-Za-z0-9_-]{1,200}$/.test(code)
    ? undefined
    : Redacted.make(code)
}

/** Explains GitHub's refusal of the code. */
const exchangeRefusal = ({ message, reason }: ForgeFailure): ApiError => {
  switch (reason) {
    case "missing":
      return failedPrecondition(`GitHub does not know the code: it serves once, and for an hour. ${startAgain}`)
    case "limited":
    case "unavailable":
      return new ApiError({ code: "verification_unavailable", message: `${message} ${startAgain}` })
    default:
      return failedPrecondition(`${message} ${startAgain}`)
  }
}

/** Uses up the registration if the person and the session match. */
const takenRegistration = Effect.fnUntraced(function* (context: CommandContext, request: FinishAppRegistration) {
  const authorizations = yield* ConnectionAuthorizations
  const state = stateOf(request.search)
  const found = state === undefined ? Option.none() : yield* authorizations.find(state)
  if (Option.isNone(found) || found.value.helperId !== appRegistration) return yield* nothingOpen
  const open = found.value
  const stranger = answererProblem(open, { subject: context.actor.subject, sessionId: request.sessionId })
  // Keeps the registration open, because the person who started the registration may still return.
  if (stranger !== undefined) return yield* stranger
  if (!(yield* authorizations.spend(open.state))) return yield* nothingOpen
  return open
})

/** Creates the Connection. Fails if the person is no longer allowed to create it. */
const settleRegistration = Effect.fnUntraced(function* (
  context: CommandContext,
  open: OpenAuthorization,
  app: CreatedApp
) {
  const { connectionId, draft, issuer, workspaceId } = open
  const { displayName } = draft
  const connections = yield* ConnectionStore
  const audit = yield* Audit
  yield* authorise(open)
  const kind = { provider: "github", kind: "forge" } as const
  const origins = [CredentialOrigin.make(issuer)]
  const secrets = {
    values: { app_id: app.appId },
    files: [{ name: appKeyFile, content: Redacted.value(app.privateKey) }]
  }
  const recipeId = defaultRecipeId(kind)
  const authMode = "app"
  yield* checkConnection({ ...kind, recipeId, authMode, origins, ...secrets }, yield* GitPolicy)
  const row = yield* connections.insert({
    id: connectionId,
    workspaceId,
    ...kind,
    recipeId,
    authMode,
    displayName,
    secrets,
    origins,
    providerConfig: {},
    moduleInputDefaults: {},
    use: draft.use ?? defaultConnectionUse,
    expiresAt: draft.expiresAt
  })
  yield* audit.append({
    workspaceId,
    actor: context.actor,
    action: "connection.create",
    target: { kind: "connection", id: row.id },
    data: { provider: kind.provider, displayName, origins, appId: app.appId },
    requestId: context.requestId
  })
})

/** Completes the registration of a GitHub App with the code that the browser brought back. */
const finishAppRegistration = Effect.fn("Connection.finishAppRegistration")(function* (
  context: CommandContext,
  request: FinishAppRegistration
) {
  const sql = yield* SqlClient.SqlClient
  const open = yield* takenRegistration(context, request)
  yield* authorise(open)
  const code = registrationCode(request.search)
  if (code === undefined) return yield* failedPrecondition(`GitHub's answer contains no code. ${startAgain}`)
  const app = yield* createdApp(open.issuer, code).pipe(Effect.mapError(exchangeRefusal))
  yield* settleRegistration(context, open, app).pipe(transaction(sql))
})

/** Stores the new tokens, unless the Connection was revoked or changed during the request. */
const storeRenewed = Effect.fnUntraced(function* (
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
const renewTokens = Effect.fn("Connection.renewTokens")(function* (id: ConnectionId) {
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
  if (yield* storeRenewed(id, row, declared, tokens.value, given.success).pipe(transaction(sql))) return undefined
  yield* Effect.ignore(client.revoke(declared.server, given.success.accessToken, "access_token"))
  return `The Connection ${JSON.stringify(row.display_name)} was changed while its access token was renewed. Start again.`
})

/** Delay between attempts to revoke tokens. */
const revokeAgainAfter = Duration.hours(1)
/** Time after which svc no longer tries to revoke tokens. */
const revocationGivenUpAfter = retention.tokenRevocation.after

const since = (time: string, at: string) => Date.parse(at) - Date.parse(time)

const revokeAtServer = Effect.fnUntraced(function* (server: AuthorizationServer, tokens: ConnectionTokenPair) {
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
const revokeTokens = Effect.fn("Connection.revokeTokens")(function* (id: ConnectionId, insist: boolean) {
  const sql = yield* SqlClient.SqlClient
  const store = yield* ConnectionTokens
  const audit = yield* Audit
  const row = yield* store.ended(id)
  const oauth = row === undefined ? undefined : oauthOf(row)
  if (row === undefined || oauth === undefined) return
  const at = yield* now
  const fault = oauthFaultOf(row)
  if (!insist && fault?.code === "revocation_failed" && since(fault.at, at) < Duration.toMillis(revokeAgainAfter))
    return
  const tokens = yield* store.read(row)
  if (Option.isNone(tokens)) return
  const declared = (yield* OAuthHelpers).find(({ helper }) => helper.id === oauth.helperId)
  const asked =
    declared?.server.issuer === oauth.issuer
      ? revokeAtServer(declared.server, Redacted.value(tokens.value))
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
  if (since(row.updated_at, at) > Duration.toMillis(revocationGivenUpAfter)) {
    return yield* ended("connection.tokens.abandon", { outcome: outcome.failure.message })
  }
  yield* store.fault(
    id,
    "revocation_failed",
    `The Connection has ended, but its tokens could not be revoked: ${outcome.failure.message} It is tried again every hour for a week; end the access at ${new URL(oauth.issuer).host} if that is too long.`
  )
})

/** The Connection actors. Each creates, verifies, changes and revokes one Connection. */
export const layer = serve(ConnectionCommands, {
  Create: Effect.fnUntraced(function* (id, { context, request }) {
    yield* checkConnection(request, yield* GitPolicy)
    yield* checkExpiry(request.expiresAt)
    yield* checkUse(request.workspaceId, request.kind ?? "provider", request.use)
    yield* checkProvided(request.workspaceId, request.providedBy)
    const recipeId = request.recipeId ?? defaultRecipeId(request)
    const row = yield* (yield* ConnectionStore).insert({
      id,
      workspaceId: request.workspaceId,
      provider: request.provider,
      kind: request.kind ?? "provider",
      recipeId,
      authMode: request.authMode ?? defaultAuthMode(recipeId),
      displayName: request.displayName,
      secrets: { values: request.values ?? {}, files: request.files ?? [] },
      providedBy: request.providedBy,
      origins: request.origins,
      providerConfig: request.providerConfig ?? {},
      moduleInputDefaults: request.moduleInputDefaults ?? {},
      use: request.use ?? defaultConnectionUse,
      expiresAt: request.expiresAt
    })
    yield* audited(context, row, "connection.create", {
      ...(request.origins === undefined ? {} : { origins: request.origins }),
      ...(request.providedBy === undefined ? {} : { pool: request.providedBy.pool, provided: request.providedBy.name })
    })
    return toConnection(row, yield* now)
  }, transacted),

  Test: Effect.fnUntraced(
    function* (id, { context }) {
      const row = yield* load(id)
      const status = effectiveStatus(row, yield* now)
      if (status !== "error" && !isUsable(status)) {
        return yield* failedPrecondition(`The Connection is ${status}. ${statusRemedy(status)}`)
      }
      if (row.oauth !== null) {
        const problem = yield* renewTokens(id)
        if (problem !== undefined) return yield* failedPrecondition(problem)
      }
      // Leaves the status alone if the credentials are unavailable: the Connection works again once the operator makes them
      // available.
      yield* checkProvided(row.workspace_id, providedOf(row))
      // Decrypting the values proves that the vault still has their key and that the values have not been changed or moved.
      const fresh = yield* load(id)
      const outcome = yield* Effect.result(
        (yield* CredentialTest).test(fresh, yield* (yield* ConnectionStore).secrets(fresh))
      )
      yield* Effect.gen(function* () {
        yield* checkProvided(row.workspace_id, providedOf(row))
        if (!(yield* (yield* ConnectionStore).setStatus(fresh, Result.isSuccess(outcome) ? "verified" : "error"))) {
          return yield* changedMeanwhile()
        }
        if (Result.isSuccess(outcome)) yield* (yield* CapsuleLedger).credentialRenewed(id)
        yield* audited(context, fresh, "connection.test")
      }).pipe(transacted)
      if (Result.isFailure(outcome)) return yield* failedPrecondition(outcome.failure.message)
      return { connection: yield* projected(id), tested: outcome.success }
    },
    (command, id) => oneAtATime(id)(command)
  ),

  Update: Effect.fnUntraced(function* (id, { context, request }) {
    const { row, ...outcome } = yield* updateConnection(id, context, request)
    return { connection: toConnection(row, yield* now), ...outcome }
  }),

  Remove: (id, { context }) => oneAtATime(id)(Effect.andThen(removeConnection(id, context), revokeTokens(id, true))),

  StartAuthorization: (id, { context, start }) => startAuthorization(id, context, start),

  FinishAuthorization: Effect.fnUntraced(
    function* (id, { context, finish }) {
      yield* finishAuthorization(context, finish)
      return yield* projected(id)
    },
    (command, id) => oneAtATime(id)(command)
  ),

  StartAppRegistration: (id, { context, start }) => startAppRegistration(id, context, start),

  FinishAppRegistration: Effect.fnUntraced(
    function* (id, { context, finish }) {
      yield* finishAppRegistration(context, finish)
      return yield* projected(id)
    },
    (command, id) => oneAtATime(id)(command)
  ),

  RenewTokens: Effect.fnUntraced(
    function* (id) {
      const problem = yield* renewTokens(id)
      return problem === undefined ? {} : { problem }
    },
    (command, id) => oneAtATime(id)(command)
  ),

  RevokeTokens: (id) => oneAtATime(id)(revokeTokens(id, false)),

  ConfirmOrigins: Effect.fnUntraced(function* (id, { context, origins }) {
    const row = yield* load(id)
    if (yield* checkConfirmation(row, origins, yield* GitPolicy)) {
      yield* (yield* ConnectionStore).confirmOrigins(id, origins)
      const proposed = proposedOriginsOf(row).map((each) => each.origin)
      yield* audited(context, row, "connection.origins.confirm", { origins, proposed })
    }
    return yield* projected(id)
  }, transacted),

  Revoke: Effect.fnUntraced(
    function* (id, { context }) {
      const ended = yield* revokeConnection(id, context)
      yield* revokeTokens(id, true)
      const idsOf = (ids: ReadonlyArray<string>) => ids.map((runId) => RunId.make(runId))
      return {
        connection: yield* projected(id),
        supersededRunIds: idsOf(ended.supersededRunIds),
        cancelledRunIds: idsOf(ended.cancelledRunIds),
        runningApplyIds: idsOf(ended.runningApplyIds)
      }
    },
    (command, id) => oneAtATime(id)(command)
  )
})
