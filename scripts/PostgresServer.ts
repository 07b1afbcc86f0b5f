// A PostgreSQL server in memory, for tests and benchmarks.
import process from "node:process"
import { Effect, FileSystem, Option, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { folderInMemory } from "./MemoryDisk.ts"

/** The error when tests fail or the server cannot be started. */
export class Failed extends Schema.TaggedError<Failed>()("Failed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const isRoot = process.getuid?.() === 0
/** Returns the command that starts a PostgreSQL program as a user that PostgreSQL accepts. */
export const asUser = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  isRoot ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", ...args] : args

/** Runs a program to its end, and returns its output and its exit code. */
export const run = Effect.fn("run")(function* (
  [program = "", ...args]: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  onOutput: (text: string) => Effect.Effect<void> = () => Effect.void
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { env, extendEnv: true, stdin: "ignore" }))
  const output = Stream.decodeText(handle.all).pipe(Stream.tap(onOutput), Stream.mkString)
  const [text, code] = yield* Effect.all([output, handle.exitCode], { concurrency: 2 })
  return { text, code: Number(code) }
}, Effect.scoped)

/** Like `run`, for programs that must succeed. */
export const must = Effect.fn("must")(function* (args: ReadonlyArray<string>, env?: Readonly<Record<string, string>>) {
  const { code, text } = yield* run(args, env)
  if (code !== 0) return yield* new Failed({ message: `${args.join(" ")} ended with ${code}: ${text.slice(-2000)}` })
  return text
})

/**
 * Finds the folder with the programs of the newest installed PostgreSQL version. If no version is installed and this process
 * runs as root, installs Debian's `postgresql`. Because PostgreSQL refuses to run as root, the server then runs as `nobody`.
 */
export const programs = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const installed = "/usr/lib/postgresql"
  const found = Effect.orElseSucceed(files.readDirectory(installed), () => [])
  if ((yield* found).length === 0 && isRoot) {
    yield* must(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "postgresql"])
  }
  const newest = (yield* found).map(Number).sort((a, b) => b - a)[0]
  if (newest === undefined) {
    return yield* new Failed({ message: "PostgreSQL is not installed. Install the Debian package postgresql." })
  }
  return `${installed}/${newest}/bin`
})

/** A folder in memory that belongs to the user of the server. */
export const serverFolder = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const memory = yield* folderInMemory
  const folder = yield* files.makeTempDirectoryScoped({
    prefix: "svc-postgres-",
    ...Option.match(memory, { onNone: () => ({}), onSome: (directory) => ({ directory }) })
  })
  if (isRoot) yield* must(["chown", "nobody:nogroup", folder])
  return folder
})

/** Settings of a server without persistence. */
export const inMemory = ["fsync=off", "full_page_writes=off", "autovacuum=off", "max_connections=300"]

/** Starts a server without persistence that listens only on a socket in its folder. */
export const postgresServer = Effect.gen(function* () {
  const bin = yield* programs
  const folder = yield* serverFolder
  const data = `${folder}/data`
  yield* must(
    asUser([`${bin}/initdb`, "-D", data, "-U", "svc", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"])
  )
  const settings = ["listen_addresses=", `unix_socket_directories=${folder}`, "synchronous_commit=off", ...inMemory]
  const context = yield* Effect.context<ChildProcessSpawner.ChildProcessSpawner>()
  const start = must(
    asUser([
      `${bin}/pg_ctl`,
      "-D",
      data,
      "-l",
      `${folder}/log`,
      "-w",
      "-o",
      settings.map((setting) => `-c ${setting}`).join(" "),
      "start"
    ])
  ).pipe(Effect.provideContext(context))
  const stop = (mode: "fast" | "immediate") =>
    Effect.provideContext(must(asUser([`${bin}/pg_ctl`, "-D", data, "-m", mode, "-w", "stop"])), context)
  yield* Effect.acquireRelease(start, () => Effect.ignore(stop("immediate")))
  return {
    url: `postgres:///postgres?host=${encodeURIComponent(folder)}&user=svc`,
    /** The socket to which a proxy connects. */
    socket: `${folder}/.s.PGSQL.5432`,
    log: `${folder}/log`,
    start,
    stop
  }
})
export type PostgresServer = Effect.Success<typeof postgresServer>
