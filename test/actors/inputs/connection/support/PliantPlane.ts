import { Context, Effect, FileSystem, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../../../actors/access/account/Sessions.ts"
import { Connections } from "../../../../../actors/inputs/connection/Connections.ts"
import { ConnectionStore } from "../../../../../actors/inputs/connection/ConnectionStore.ts"
import { ConnectionTokens } from "../../../../../actors/inputs/connection/ConnectionTokens.ts"
import { type DeclaredHelper, OAuthHelpers } from "../../../../../actors/inputs/connection/OAuthHelpers.ts"
import type { ConnectionId } from "../../../../../schema/records/Ids.ts"
import { OAuthHelperId } from "../../../../../schema/records/OAuthHelper.ts"
import { platform } from "../../../../../src/composition/Platform.ts"
import type { DatabaseServices } from "../../../../../src/composition/Storage.ts"
import { masterKeyName } from "../../../../../src/database/DataFolder.ts"
import { origins, repository } from "../../../../runner/git/support/RemoteFixture.ts"
import { serveByHttpBackend } from "../../../../support/GitServer.ts"
import { type PliantServer, pliantServer } from "../../../../support/PliantAuthorizationServer.ts"
import { providerMirror } from "../../../../support/ProviderMirror.ts"
import { demo, planeAt, TestPlane, testPlane } from "../../../../support/TestPlane.ts"
import { withMember } from "../../../../support/Dialect.ts"

/** The authorization server, and the list of helpers, which stays empty until the demo provider's notes folder exists. */
export class Pliant extends Context.Service<Pliant, PliantServer & { readonly helpers: Array<DeclaredHelper> }>()(
  "test/Pliant"
) {}

/** A Git server that records the credentials it receives. */
export class Forge extends Context.Service<Forge, Effect.Success<ReturnType<typeof serveByHttpBackend>>>()(
  "test/Forge"
) {}

const pliantPlaneOf = (shared: boolean) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const server = yield* pliantServer
      const forge = yield* serveByHttpBackend((yield* repository).gitdir)
      const helpers: Array<DeclaredHelper> = []
      return testPlane({ gitOrigins: [server.issuer, forge.origin], shared }).pipe(
        Layer.provideMerge(Layer.mergeAll(Layer.succeed(Pliant, { ...server, helpers }), Layer.succeed(Forge, forge))),
        Layer.provideMerge(Layer.succeed(OAuthHelpers, helpers))
      )
    })
  ).pipe(Layer.provide(platform))

/** A service whose Connections, for the demo provider or a Git server, are created through an authorization server. */
export const pliantPlane = pliantPlaneOf(false)

/** Like `pliantPlane`, but with a database shared with other servers. */
export const sharedPliantPlane = pliantPlaneOf(true)

/** Starts another server on the same database and with the same keys. */
export const anotherPliantServer = Effect.gen(function* () {
  const services = yield* Effect.context<DatabaseServices>()
  const files = yield* FileSystem.FileSystem
  const { dataDir: first } = yield* TestPlane
  const { helpers, issuer } = yield* Pliant
  const dataDir = `${yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })}/data`
  yield* files.makeDirectory(dataDir, { mode: 0o700 })
  yield* files.copyFile(`${first}/${masterKeyName}`, `${dataDir}/${masterKeyName}`)
  const origins = [issuer, (yield* Forge).origin]
  const plane = planeAt(
    { dataDir, mirror: yield* providerMirror, origins },
    { shared: true, database: Layer.succeedContext(services) }
  )
  return yield* Layer.build(
    Layer.fresh(plane).pipe(Layer.provide(Layer.succeed(OAuthHelpers, helpers)), Layer.provide(platform))
  )
})

const helperId = OAuthHelperId.make("pliant")
export const forgeId = OAuthHelperId.make("forge")

const declare = Effect.gen(function* () {
  const { notesDir } = yield* TestPlane
  const { helpers, issuer } = yield* Pliant
  if (helpers.length > 0) return
  const server: DeclaredHelper["server"] = {
    issuer,
    metadata: "oauth2",
    endpoints: undefined,
    pkce: "advertised",
    clientId: "svc",
    clientSecret: Redacted.make("a-client-secret-of-forty-characters-0000"),
    secretMethod: undefined
  }
  const forge: DeclaredHelper = {
    helper: {
      id: forgeId,
      displayName: "Forge",
      issuer,
      scopes: ["read"],
      provider: "git",
      kind: "git_https",
      recipeId: "git-https-token",
      authMode: "token",
      valueNames: ["token"],
      origins: origins((yield* Forge).origin)
    },
    server,
    parameters: {},
    accessTokenName: "token",
    values: {}
  }
  helpers.push(forge, {
    helper: {
      id: helperId,
      displayName: "Pliant",
      issuer,
      scopes: ["notes"],
      provider: demo,
      kind: "provider",
      recipeId: "generic-env",
      authMode: "env",
      valueNames: ["DEMO_DIR", "DEMO_TOKEN"]
    },
    server,
    parameters: {},
    accessTokenName: "DEMO_TOKEN",
    values: { DEMO_DIR: notesDir }
  })
})

/** Completes sign-in at the authorization server, for a new Connection or an existing one. */
export const connect = Effect.fnUntraced(function* (connectionId?: ConnectionId, helper = helperId) {
  yield* declare
  const { context, workspaceId } = yield* TestPlane
  const { agreed } = yield* Pliant
  const subject = context.actor.subject ?? ""
  const sessions = yield* Sessions
  const { secret } = yield* sessions.open({ subject, method: "password" })
  const { credentialId: sessionId } = yield* sessions.authenticate(secret)
  const connections = yield* Connections
  const redirectUri = `https://svc.example.com/api/v1/connections/oauth/${helper}/callback`
  const started = yield* connections.startOAuth(context, {
    helperId: helper,
    redirectUri,
    sessionId,
    request: { workspaceId, ...(connectionId === undefined ? {} : { connectionId }) }
  })
  const search = `?${agreed(started.authorizationUrl).toString()}`
  return yield* connections.finishOAuth(context, { helperId: helper, sessionId, search })
})

export const expire = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (
      sql
    ) => sql`UPDATE connections SET oauth = ${withMember(sql, "oauth", "$.accessTokenExpiresAt", "2026-01-01T00:00:00.000Z")}
      WHERE id = ${id}`
  )

export const row = Effect.fnUntraced(function* (id: ConnectionId) {
  const found = yield* (yield* ConnectionStore).find(id)
  return found ?? (yield* Effect.die("no Connection"))
})

export const tokensOf = Effect.fnUntraced(function* (id: ConnectionId) {
  const found = yield* (yield* ConnectionTokens).read(yield* row(id))
  return Option.isSome(found) ? Redacted.value(found.value) : yield* Effect.die("no tokens")
})
