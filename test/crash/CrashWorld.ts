import { Effect, FileSystem, Redacted } from "effect"
import { ConnectionId, WorkspaceId } from "../../schema/records/Ids.ts"
import { makeClient } from "../../src/client/SvcClient.ts"
import { signInForFirstTime } from "../../src/cli/demo/DemoSession.ts"
import { FetchHttpClient } from "effect/http"
import { providerMirror } from "../support/ProviderMirror.ts"
import { type CrashDatabases, crashDatabases, postgresServerBinary } from "./CrashDatabase.ts"
import { serverBinary } from "./ServerBinary.ts"
import { serve } from "./ServerProcess.ts"

/** Strings that must never appear in plain text. */
export const canaries = {
  variable: "canary-variable-4b1d9f6a2c",
  credential: "canary-credential-90e3d7715b",
  password: "a password of the demo"
}

/** The starting point of every journey: a data folder with an account, a token, a Workspace and a Connection. */
export interface CrashWorld {
  readonly folder: string
  readonly program: string
  readonly template: string
  readonly mirror: string
  readonly token: Redacted.Redacted
  readonly workspaceId: WorkspaceId
  readonly connectionId: ConnectionId
  /** Databases in PostgreSQL, unless each data folder has a database file. */
  readonly databases: CrashDatabases | undefined
}

/**
 * Creates the world once with a real server, and then stops the server. `build` returns the command that starts the server.
 */
export const crashWorldOf = Effect.fn("crashWorldOf")(function* <E, R>(
  build: Effect.Effect<string, E, R>,
  databases?: CrashDatabases
) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-crash-" })
  const mirror = yield* providerMirror
  const program = yield* build
  const template = `${folder}/template`
  yield* files.makeDirectory(template, { mode: 0o700 })
  const made = yield* Effect.gen(function* () {
    const server = yield* serve({
      program,
      dataDir: template,
      gitOrigin: "http://127.0.0.1:9",
      mirror: mirror.path,
      notesDir: mirror.notesDir,
      logFile: `${folder}/template.log`,
      databaseUrl: databases?.template
    })
    const secret = server.setupLink?.split("#")[1] ?? ""
    const token = yield* signInForFirstTime(server.url, Redacted.make(secret)).pipe(
      Effect.provide(FetchHttpClient.layer)
    )
    const client = yield* makeClient({ baseUrl: server.url, token }).pipe(Effect.provide(FetchHttpClient.layer))
    const { workspaces } = yield* client.workspaces.list({ query: {} })
    const workspaceId = WorkspaceId.make(workspaces[0]?.id ?? "")
    const { connection } = yield* client.connections.create({
      payload: {
        workspaceId,
        provider: "example.test/acme/demo",
        displayName: "demo",
        values: { DEMO_TOKEN: canaries.credential }
      }
    })
    yield* server.signal("SIGTERM")
    yield* server.ended
    return { token, workspaceId, connectionId: ConnectionId.make(connection.id) }
  }).pipe(Effect.scoped)
  const world: CrashWorld = { folder, program, template, mirror: mirror.path, databases, ...made }
  return world
})

export const crashWorld = crashWorldOf(serverBinary)

/** Like `crashWorld`, with databases in PostgreSQL. */
export const postgresCrashWorld = Effect.flatMap(crashDatabases, (databases) =>
  crashWorldOf(postgresServerBinary, databases)
)
