import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { SqlClient } from "effect/sql"
import { Connections } from "../../../actors/inputs/connection/Connections.ts"
import type { StartedAppRegistration } from "../../../actors/inputs/connection/Connections.ts"
import { findHelper, OAuthHelpers } from "../../../actors/inputs/connection/OAuthHelpers.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { OutputShares } from "../../../actors/ledger/output-share/OutputShares.ts"
import { appForm } from "../../../runner/forge/AppRegistration.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { Connection } from "../../../schema/records/Connection.ts"
import { ConnectionId, OutputShareId } from "../../../schema/records/Ids.ts"
import { seeOther } from "../../accounts/oidc/AuthorizationResponse.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { gitHubAppPage } from "../GitHubAppPage.ts"
import { takesHtml } from "../LandingPage.ts"
import { authorisedWorkspace, commandContext, cursorOf, pageRequest, pathId } from "./Commands.ts"
import { StoredWorkspace } from "../../../actors/ledger/workspace/StoredWorkspace.ts"
import { storedAnswers } from "./StoredAnswers.ts"
import { ConnectionCommands } from "../../../schema/commands/ConnectionCommands.ts"

const connectionOf = (params: { readonly connectionId: string }) =>
  pathId(ConnectionId, params.connectionId, "Connection")

const shareOf = (params: { readonly shareId: string }) => pathId(OutputShareId, params.shareId, "OutputShare")

/** The request's browser session. An authorization at another server can only be finished in the session that started it. */
const browserSession = Effect.flatMap(Caller, ({ credential, credentialId }) =>
  credential === "session"
    ? Effect.succeed(credentialId)
    : Effect.fail(
        new ApiError({
          code: "permission_denied",
          message: "A person agrees at another server with their browser: this needs the session of a signed-in person."
        })
      )
)

const workspaceHandle = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, workspaceId: string) {
  const [workspace] = yield* StoredWorkspace.some(
    sql,
    "handle"
  )`SELECT handle FROM workspaces WHERE id = ${workspaceId}`
  return workspace?.handle ?? ""
}, Effect.orDie)

export const connectionHandlers = HttpApiBuilder.group(
  SvcApi,
  "connections",
  Effect.fn(function* (handlers) {
    const connections = yield* Connections
    const connectionCommands = yield* ConnectionCommands
    const shares = yield* OutputShares
    const sql = yield* ReadSql
    const { baseUrl } = yield* HttpSettings
    const helpers = yield* OAuthHelpers
    const declared = (helperId: string) => Effect.provideService(findHelper(helperId), OAuthHelpers, helpers)
    const appPath = `${baseUrl}/api/v1/connections/github-app`
    const formOf = Effect.fnUntraced(function* (started: StartedAppRegistration) {
      const handle = yield* workspaceHandle(sql, started.workspaceId)
      return appForm({ ...started, name: `svc-${handle}`, homepage: baseUrl })
    })
    const arrival = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers, originalUrl }) => ({
      headers,
      search: new URL(originalUrl, baseUrl).search
    }))
    const connectedPage = Effect.fnUntraced(function* (connection: Connection) {
      const handle = yield* workspaceHandle(sql, connection.workspaceId ?? "")
      return seeOther(`${baseUrl}/w/${handle}/connections?connected=${connection.id}`)
    })
    return storedAnswers("connections", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* connections.list(yield* authorisedWorkspace, yield* pageRequest(query))
        return { connections: page.items, ...cursorOf(page) }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        return { connection: yield* connections.create(yield* commandContext, payload) }
      }),
      test: Effect.fnUntraced(function* ({ params }) {
        return yield* connectionCommands.Test(yield* connectionOf(params), { context: yield* commandContext })
      }),
      read: Effect.fnUntraced(function* ({ params }) {
        return { connection: yield* connections.read(yield* connectionOf(params)) }
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* connectionCommands.Update(yield* connectionOf(params), {
          context: yield* commandContext,
          request: payload
        })
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        yield* connectionCommands.Remove(yield* connectionOf(params), { context: yield* commandContext })
      }),
      confirmOrigins: Effect.fnUntraced(function* ({ params, payload }) {
        const id = yield* connectionOf(params)
        return {
          connection: yield* connectionCommands.ConfirmOrigins(id, {
            context: yield* commandContext,
            origins: payload.origins
          })
        }
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        return yield* connectionCommands.Revoke(yield* connectionOf(params), { context: yield* commandContext })
      }),
      startOAuth: Effect.fnUntraced(function* ({ params, payload }) {
        const { helper } = yield* declared(params.helperId)
        const sessionId = yield* browserSession
        return yield* connections.startOAuth(yield* commandContext, {
          helperId: helper.id,
          redirectUri: `${baseUrl}/api/v1/connections/oauth/${helper.id}/callback`,
          sessionId,
          request: payload
        })
      }),
      finishOAuth: Effect.fnUntraced(function* ({ params }) {
        const { helper } = yield* declared(params.helperId)
        const sessionId = yield* browserSession
        const { headers, search } = yield* arrival
        const connection = yield* connections.finishOAuth(yield* commandContext, {
          helperId: helper.id,
          sessionId,
          search
        })
        return takesHtml(headers["accept"]) ? yield* connectedPage(connection) : { connection }
      }),
      startGitHubApp: Effect.fnUntraced(function* ({ payload }) {
        const sessionId = yield* browserSession
        const started = yield* connections.startAppRegistration(yield* commandContext, {
          redirectUri: `${appPath}/callback`,
          sessionId,
          request: payload
        })
        const { connectionId, expiresAt, state } = started
        const query = new URLSearchParams({ state: Redacted.value(state) })
        return { formUrl: `${appPath}/form?${query.toString()}`, ...(yield* formOf(started)), connectionId, expiresAt }
      }),
      gitHubAppForm: Effect.fnUntraced(function* () {
        const sessionId = yield* browserSession
        const { headers, search } = yield* arrival
        const form = yield* formOf(
          yield* connections.startedAppRegistration(yield* commandContext, { sessionId, search })
        )
        return takesHtml(headers["accept"]) ? gitHubAppPage(headers["accept-language"], form) : form
      }),
      finishGitHubApp: Effect.fnUntraced(function* () {
        const sessionId = yield* browserSession
        const { headers, search } = yield* arrival
        const connection = yield* connections.finishAppRegistration(yield* commandContext, { sessionId, search })
        return takesHtml(headers["accept"]) ? yield* connectedPage(connection) : { connection }
      }),
      providerConnections: Effect.fnUntraced(function* ({ query }) {
        const page = yield* connections.list(yield* authorisedWorkspace, yield* pageRequest(query), "provider")
        return { providerConnections: page.items, ...cursorOf(page) }
      }),
      recipes: Effect.fnUntraced(function* () {
        return { credentialRecipes: yield* connections.recipes, oauthHelpers: yield* connections.helpers }
      }),
      outputShares: Effect.fnUntraced(function* ({ query }) {
        const page = yield* shares.list(yield* authorisedWorkspace, yield* pageRequest(query))
        return { outputShares: page.items, ...cursorOf(page) }
      }),
      createOutputShare: Effect.fnUntraced(function* ({ payload }) {
        return { outputShare: yield* shares.create(yield* commandContext, payload) }
      }),
      approveOutputShare: Effect.fnUntraced(function* ({ params }) {
        const id = yield* shareOf(params)
        return { outputShare: yield* shares.approve(yield* commandContext, id, yield* authorisedWorkspace) }
      }),
      revokeOutputShare: Effect.fnUntraced(function* ({ params }) {
        const id = yield* shareOf(params)
        return { outputShare: yield* shares.revoke(yield* commandContext, id, yield* authorisedWorkspace) }
      })
    })
  })
)
