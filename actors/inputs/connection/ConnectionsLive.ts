import { DateTime, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { notFound } from "../../../schema/errors/ApiError.ts"
import { connectionExpiryNotice } from "../../../schema/records/Connection.ts"
import { ConnectionId } from "../../../schema/records/Ids.ts"
import { ConnectionCommands } from "../../../schema/commands/ConnectionCommands.ts"
import { secretHash } from "../../base/credential/BearerSecret.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { newId, now } from "../../base/Identity.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { pageOfRows } from "../../base/paging/RowPages.ts"
import { Connections } from "./Connections.ts"
import { toConnection } from "./ConnectionStore.ts"
import { answererProblem } from "./AuthorizationProblem.ts"
import { ConnectionAuthorizationRow, draftOf, stateOf } from "./ConnectionAuthorizations.ts"
import { credentialRecipes } from "./CredentialRecipes.ts"
import { nothingOpen } from "./FinishAuthorization.ts"
import { appRegistration } from "./StartAppRegistration.ts"
import { OAuthHelpers } from "./OAuthHelpers.ts"
import { ConnectionRow, ListedConnection } from "./ConnectionRow.ts"

/** Returns the time at which svc starts to list a Connection's expiry as needing attention. */
const noticeOf = (expiresAt: string | null): string | null =>
  expiresAt === null
    ? null
    : DateTime.formatIso(DateTime.subtractDuration(DateTime.makeUnsafe(expiresAt), connectionExpiryNotice))

export const layer = Layer.effect(
  Connections,
  Effect.gen(function* () {
    const command = yield* ConnectionCommands
    const sql = yield* ReadSql
    const cursors = yield* Cursors
    const helpers = yield* OAuthHelpers
    const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

    const openedBy = Effect.fnUntraced(function* (search: string) {
      const state = stateOf(search)
      const [open] =
        state === undefined
          ? []
          : yield* Effect.orDie(ConnectionAuthorizationRow.rows(sql)`SELECT * FROM connection_authorizations
              WHERE state_hash = ${secretHash(state)}`)
      return state === undefined || open === undefined ? yield* nothingOpen : { open, state }
    })

    return Connections.of({
      create: Effect.fnUntraced(function* (context, request) {
        const id = yield* newId(ConnectionId, "conn").pipe(withRandom)
        return yield* command.Create(id, { context, request })
      }),
      read: Effect.fn("Connections.read")(function* (id) {
        const [row] = yield* Effect.orDie(
          ConnectionRow.rows(sql)`SELECT * FROM connections WHERE id = ${id} AND removed_at IS NULL`
        )
        if (row === undefined) return yield* notFound("Connection")
        return toConnection(row, yield* now)
      }),
      expiring: Effect.fn("Connections.expiring")(function* (workspaceId) {
        const rows = yield* ConnectionRow.rows(sql)`SELECT * FROM connections WHERE workspace_id = ${workspaceId}
          AND removed_at IS NULL AND status <> 'revoked' AND expires_at IS NOT NULL ORDER BY expires_at, id`
        const at = yield* now
        return rows.flatMap((row) => ((noticeOf(row.expires_at) ?? at) <= at ? [toConnection(row, at)] : []))
      }, Effect.orDie),
      list: Effect.fn("Connections.list")(function* (workspaceId, page, kind) {
        const rows = yield* pageOfRows(
          ListedConnection,
          sql,
          cursors,
          {
            route: "connections.list",
            newestFirst: false,
            conditions: [
              sql`removed_at IS NULL`,
              sql`(workspace_id = ${workspaceId} OR scope = 'operator')`,
              ...(kind === undefined ? [] : [sql`kind = ${kind}`])
            ],
            filter: [workspaceId, kind]
          },
          page
        )
        const at = yield* now
        return { ...rows, items: rows.items.map((row) => toConnection(row, at)) }
      }),
      awaitingOrigins: Effect.fn("Connections.awaitingOrigins")(function* (workspaceId) {
        const rows = yield* ConnectionRow.rows(sql)`SELECT * FROM connections c WHERE c.workspace_id = ${workspaceId}
          AND c.kind = 'git_https' AND c.origins IS NULL AND c.status <> 'revoked'
          AND EXISTS (SELECT 1 FROM sources s WHERE s.auth_connection_id = c.id AND s.status <> 'disabled')
          ORDER BY c.created_at, c.id`
        const at = yield* now
        return rows.map((row) => toConnection(row, at))
      }, Effect.orDie),
      startOAuth: Effect.fn("Connections.startOAuth")(function* (context, start) {
        const renewed = start.request.connectionId
        const id = renewed ?? (yield* newId(ConnectionId, "conn").pipe(withRandom))
        const started = yield* command.StartAuthorization(id, {
          context,
          start: { ...start, renews: renewed !== undefined }
        })
        return { ...started, connectionId: id }
      }),
      finishOAuth: Effect.fn("Connections.finishOAuth")(function* (context, finish) {
        const { open } = yield* openedBy(finish.search)
        return yield* command.FinishAuthorization(open.connection_id, { context, finish })
      }),
      startAppRegistration: Effect.fn("Connections.startAppRegistration")(function* (context, start) {
        const id = yield* newId(ConnectionId, "conn").pipe(withRandom)
        const { expiresAt, state } = yield* command.StartAppRegistration(id, { context, start })
        const { organization, origin, workspaceId } = start.request
        return {
          workspaceId,
          address: origin,
          organization,
          redirectUri: start.redirectUri,
          state: Redacted.make(state),
          connectionId: id,
          expiresAt
        }
      }),
      startedAppRegistration: Effect.fn("Connections.startedAppRegistration")(function* (context, found) {
        const { open, state } = yield* openedBy(found.search)
        if (open.helper_id !== appRegistration || open.expires_at <= (yield* now)) return yield* nothingOpen
        const starter = { subject: open.subject, sessionId: open.session_id }
        const stranger = answererProblem(starter, { subject: context.actor.subject, sessionId: found.sessionId })
        if (stranger !== undefined) return yield* stranger
        return {
          workspaceId: open.workspace_id,
          address: open.issuer,
          organization: draftOf(open).organization,
          redirectUri: open.redirect_uri,
          state
        }
      }),
      finishAppRegistration: Effect.fn("Connections.finishAppRegistration")(function* (context, finish) {
        const { open } = yield* openedBy(finish.search)
        return yield* command.FinishAppRegistration(open.connection_id, { context, finish })
      }),
      failing: Effect.fn("Connections.failing")(function* (workspaceId) {
        const rows = yield* ConnectionRow.rows(sql)`SELECT * FROM connections WHERE workspace_id = ${workspaceId}
          AND oauth_fault IS NOT NULL ORDER BY created_at, id`
        const at = yield* now
        return rows.map((row) => toConnection(row, at))
      }, Effect.orDie),
      helpers: Effect.succeed(helpers.map(({ helper }) => helper)),
      recipes: Effect.succeed(credentialRecipes)
    })
  })
)
