import { Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type CreatedApp, createdApp } from "../../../runner/forge/AppRegistration.ts"
import type { ForgeFailure } from "../../../runner/forge/Forge.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { FinishAppRegistration } from "../../../schema/commands/ConnectionCommands.ts"
import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { defaultConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import { CredentialOrigin } from "../../../schema/records/CredentialOrigin.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { answererProblem, startAgain } from "./AuthorizationProblem.ts"
import { ConnectionAuthorizations, type OpenAuthorization, stateOf } from "./ConnectionAuthorizations.ts"
import { checkConnection, defaultRecipeId } from "./ConnectionRules.ts"
import { ConnectionStore } from "./ConnectionStore.ts"
import { appKeyFile } from "./CredentialRecipes.ts"
import { authorise, nothingOpen } from "./FinishAuthorization.ts"
import { appRegistration } from "./StartAppRegistration.ts"

/** Returns the code in the response, or `undefined` if the response does not contain exactly one well-formed code. */
const codeOf = (search: string): Redacted.Redacted | undefined => {
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
const taken = Effect.fnUntraced(function* (context: CommandContext, request: FinishAppRegistration) {
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
const settle = Effect.fnUntraced(function* (context: CommandContext, open: OpenAuthorization, app: CreatedApp) {
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
export const finishAppRegistration = Effect.fn("Connection.finishAppRegistration")(function* (
  context: CommandContext,
  request: FinishAppRegistration
) {
  const sql = yield* SqlClient.SqlClient
  const open = yield* taken(context, request)
  yield* authorise(open)
  const code = codeOf(request.search)
  if (code === undefined) return yield* failedPrecondition(`GitHub's answer contains no code. ${startAgain}`)
  const app = yield* createdApp(open.issuer, code).pipe(Effect.mapError(exchangeRefusal))
  yield* settle(context, open, app).pipe(transaction(sql))
})
