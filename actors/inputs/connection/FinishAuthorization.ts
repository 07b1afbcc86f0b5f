import { Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import type { GrantedTokens } from "../../../runner/oauth/AuthorizationServer.ts"
import { OAuthClient } from "../../../runner/oauth/OAuthClient.ts"
import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { defaultConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { FinishAuthorization } from "../../../schema/commands/ConnectionCommands.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import {
  answererProblem,
  authorityProblem,
  firstExpiry,
  nextExpiry,
  renewable,
  serverProblem,
  startAgain
} from "./AuthorizationProblem.ts"
import { ConnectionAuthorizations, type OpenAuthorization, stateOf } from "./ConnectionAuthorizations.ts"
import { checkConnection, checkExpiry, checkUse } from "./ConnectionRules.ts"
import { ConnectionStore } from "./ConnectionStore.ts"
import { ConnectionTokens, tokenPair } from "./ConnectionTokens.ts"
import { ConnectionUses } from "./ConnectionUses.ts"
import { CredentialsInUse } from "./CredentialsInUse.ts"
import { type DeclaredHelper, findHelper, valuesOf } from "./OAuthHelpers.ts"
import { oauthRefusal } from "./StartAuthorization.ts"
import { connectionRotated } from "./RotatedConnections.ts"
import { storedOAuth } from "./TokenLifetime.ts"

/**
 * The error if no open authorization matches the response: no authorization was started, or it has been used or has expired.
 */
export const nothingOpen = failedPrecondition(
  "No authorization is open that this answer belongs to: they last ten minutes and serve once. Nothing was changed; start again from the Connections of the Workspace."
)

/** Checks that the person may still complete the authorization. */
export const authorise = Effect.fnUntraced(function* ({ sessionId, subject, workspaceId }: OpenAuthorization) {
  const sql = yield* SqlClient.SqlClient
  const uses = yield* ConnectionUses
  const open = yield* Effect.orDie(sql`SELECT id FROM account_sessions
    WHERE id = ${sessionId} AND subject = ${subject} AND revoked_at IS NULL`)
  const problem = authorityProblem({
    isSessionOpen: open.length > 0,
    isManager: yield* uses.isManager(subject, workspaceId)
  })
  if (problem !== undefined) return yield* problem
  yield* refuseArchived(workspaceId).pipe(Effect.catchTag("SqlError", Effect.die))
})

/** Uses up the authorization if the person, the session and the helper match. */
const taken = Effect.fnUntraced(function* (context: CommandContext, request: FinishAuthorization) {
  const authorizations = yield* ConnectionAuthorizations
  const state = stateOf(request.search)
  const found = state === undefined ? Option.none() : yield* authorizations.find(state)
  if (Option.isNone(found)) return yield* nothingOpen
  const open = found.value
  const stranger = answererProblem(open, { subject: context.actor.subject, sessionId: request.sessionId })
  // Keeps the authorization open, because the person who started the authorization may still return.
  if (stranger !== undefined) return yield* stranger
  if (!(yield* authorizations.spend(open.state))) return yield* nothingOpen
  const problem = serverProblem(open, request.helperId, yield* findHelper(open.helperId))
  if (problem !== undefined) return yield* problem
  return open
})

const created = Effect.fnUntraced(function* (open: OpenAuthorization, declared: DeclaredHelper, tokens: GrantedTokens) {
  const { connectionId, draft, workspaceId } = open
  const { helper } = declared
  const connections = yield* ConnectionStore
  const store = yield* ConnectionTokens
  const oauth = storedOAuth(declared, tokens, yield* now)
  const row = yield* connections.insert({
    id: connectionId,
    workspaceId,
    provider: helper.provider,
    kind: helper.kind,
    recipeId: helper.recipeId,
    authMode: helper.authMode,
    displayName: draft.displayName,
    secrets: { values: valuesOf(declared, tokens.accessToken), files: [] },
    origins: helper.origins,
    providerConfig: {},
    moduleInputDefaults: {},
    use: draft.use ?? defaultConnectionUse,
    expiresAt: firstExpiry(draft, oauth)
  })
  // Marks the values as verified, because the server has just issued them.
  yield* connections.setStatus(row, "verified")
  yield* store.put(row, oauth, tokenPair(tokens))
  return { action: "connection.create", row, data: {} }
})

const rotated = Effect.fnUntraced(function* (open: OpenAuthorization, declared: DeclaredHelper, tokens: GrantedTokens) {
  const { connectionId, draft } = open
  const connections = yield* ConnectionStore
  const store = yield* ConnectionTokens
  const held = yield* CredentialsInUse
  const ledger = yield* RunLedger
  const found = renewable(yield* connections.find(connectionId))
  if (found instanceof ApiError) return yield* found
  const { former, row } = found
  const before = yield* connections.secrets(row)
  const oauth = storedOAuth(declared, tokens, yield* now)
  const changed = yield* connections.change(row, {
    displayName: draft.displayName,
    use: draft.use,
    expiresAt: nextExpiry(draft, row, former, oauth),
    secrets: { values: valuesOf(declared, tokens.accessToken), files: [] }
  })
  if (changed === undefined)
    return yield* Effect.die(new Error(`The Connection ${connectionId} changed within a transaction`))
  yield* held.keep(row, before)
  yield* held.keepTokens(row)
  yield* store.put(row, oauth, tokenPair(tokens))
  yield* (yield* CapsuleLedger).credentialRenewed(connectionId)
  const supersededRunIds = yield* ledger.supersedeUsers(connectionId, connectionRotated)
  return { action: "connection.rotate", row, data: { version: row.version + 1, supersededRunIds } }
})

/**
 * Creates a Connection from the draft, or stores new tokens in an existing one. Fails if the person is no longer allowed to
 * do so.
 */
const settle = Effect.fnUntraced(function* (
  context: CommandContext,
  open: OpenAuthorization,
  declared: DeclaredHelper,
  tokens: GrantedTokens
) {
  const { helper, server } = declared
  const { draft, workspaceId } = open
  const audit = yield* Audit
  yield* authorise(open)
  yield* checkExpiry(draft.expiresAt)
  yield* checkUse(workspaceId, helper.kind, draft.use)
  yield* checkConnection(
    {
      provider: helper.provider,
      kind: helper.kind,
      recipeId: helper.recipeId,
      authMode: helper.authMode,
      values: valuesOf(declared, tokens.accessToken),
      ...(helper.origins === undefined ? {} : { origins: helper.origins })
    },
    yield* GitPolicy
  )
  const { action, data, row } = yield* draft.renews ? rotated(open, declared, tokens) : created(open, declared, tokens)
  yield* audit.append({
    workspaceId,
    actor: context.actor,
    action,
    target: { kind: "connection", id: row.id },
    data: {
      provider: helper.provider,
      displayName: draft.displayName,
      helperId: helper.id,
      issuer: server.issuer,
      scopes: tokens.scopes ?? helper.scopes,
      ...(helper.origins === undefined ? {} : { origins: helper.origins }),
      ...data
    },
    requestId: context.requestId
  })
})

/** Completes an authorization with the response from the browser. If the completion fails, revokes the new tokens. */
export const finishAuthorization = Effect.fn("Connection.finishAuthorization")(function* (
  context: CommandContext,
  request: FinishAuthorization
) {
  const sql = yield* SqlClient.SqlClient
  const client = yield* OAuthClient
  const open = yield* taken(context, request)
  yield* authorise(open)
  const declared = yield* findHelper(open.helperId)
  const { server } = declared
  const tokens = yield* client
    .redeem(server, { ...open, state: Redacted.value(open.state) }, request.search)
    .pipe(Effect.mapError((failure) => oauthRefusal(failure, startAgain)))
  yield* settle(context, open, declared, tokens).pipe(
    transaction(sql),
    Effect.tapCause(() =>
      Effect.gen(function* () {
        if (tokens.refreshToken !== undefined) yield* client.revoke(server, tokens.refreshToken, "refresh_token")
        yield* client.revoke(server, tokens.accessToken, "access_token")
      }).pipe(Effect.ignore)
    )
  )
})
