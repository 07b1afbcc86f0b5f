import { Effect, FileSystem, Option, Redacted, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { makeClient } from "../../../src/client/index.ts"
import { signInForFirstTime } from "../../../src/cli/demo/DemoSession.ts"

const main = fileURLToPath(new URL("../../../src/Main.ts", import.meta.url))

const Announced = Schema.fromJsonString(
  Schema.Struct({
    url: Schema.String,
    port: Schema.Int,
    setupLink: Schema.NullOr(Schema.String),
    operatorUrl: Schema.optionalKey(Schema.String)
  })
)
const decodeAnnounced = Schema.decodeEffect(Announced)

export interface StartOptions {
  readonly dataDir: string
  readonly flags?: ReadonlyArray<string>
  /** Program and arguments that precede `serve`. The default is the entry point of this checkout on this runtime. */
  readonly program?: ReadonlyArray<string>
}

/** Starts a server process within the Scope. Returns its address, process id and setup link. */
export const startServer = Effect.fn("startServer")(function* (options: StartOptions) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const [program = process.execPath, ...args] = options.program ?? [process.execPath, main]
  const flags = ["serve", "--json", "--log", "error", "--listen", "127.0.0.1:0", "--data-dir", options.dataDir]
  const server = yield* spawner.spawn(
    ChildProcess.make(program, [...args, ...flags, ...(options.flags ?? [])], {
      extendEnv: false,
      env: { PATH: process.env["PATH"] ?? "", HOME: options.dataDir, NODE_ENV: "production" },
      stderr: "inherit"
    })
  )
  const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
  return { ...(yield* decodeAnnounced(Option.getOrThrow(line))), pid: server.pid }
})

/** Starts a server, and creates its first account with a token and a Workspace. */
export const startProduct = Effect.fn("startProduct")(function* (
  flags: ReadonlyArray<string>,
  program?: ReadonlyArray<string>
) {
  const files = yield* FileSystem.FileSystem
  const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-" })
  const server = yield* startServer({ dataDir, flags, ...(program === undefined ? {} : { program }) })
  const secret = (server.setupLink ?? "").split("#")[1] ?? ""
  const token = yield* signInForFirstTime(server.url, Redacted.make(secret))
  const client = yield* makeClient({ baseUrl: server.url, token })
  const { workspaces } = yield* client.workspaces.list({ query: {} })
  const workspaceId = workspaces[0]?.id ?? ""
  return { ...server, dataDir, token, client, workspaceId }
})
