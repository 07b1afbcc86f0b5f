// `npm run test:postgres`: starts a PostgreSQL server in memory, runs tests with their databases in it, and compares the failures
// with `test/support/SqliteOnlyTests.ts`, which lists the tests about SQLite itself. Arguments, in any order, after `--`:
// - files and folders of tests; `test/actors` and `test/src/http` if there are none
// - `--short`: the CI selection Installs Debian's `postgresql` if there is none and this is root. The server refuses to run as
//   root, so it then runs as `nobody`.
import process from "node:process"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Option, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { sqliteOnlyTests } from "../test/support/SqliteOnlyTests.ts"
import { folderInMemory } from "./MemoryDisk.ts"

const shortTests = [
  "test/src/database/postgres",
  "test/e2e/PostgresJob.test.ts",
  "test/actors/base/audit",
  "test/actors/base/idempotency",
  "test/actors/ledger/run/RunJournal.test.ts",
  "test/actors/running/queue/AgentQueue.test.ts",
  "test/actors/running/queue/QueueRows.test.ts",
  "test/src/http/RevokedReads.test.ts"
]
const allTests = ["test/src/database/postgres", "test/e2e/PostgresJob.test.ts", "test/actors", "test/src/http"]

/** The error if tests failed or the server could not be started. */
class Failed extends Schema.TaggedError<Failed>()("Failed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const isRoot = process.getuid?.() === 0
/** Starts a program of the server as a user that PostgreSQL accepts. */
const asUser = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  isRoot ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", ...args] : args

const run = Effect.fn("run")(function* (
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

const must = Effect.fn("must")(function* (args: ReadonlyArray<string>, env?: Readonly<Record<string, string>>) {
  const { code, text } = yield* run(args, env)
  if (code !== 0) return yield* new Failed({ message: `${args.join(" ")} ended with ${code}: ${text.slice(-2000)}` })
  return text
})

/** Finds the folder with the programs of the newest installed version. */
const programs = Effect.gen(function* () {
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

/** Starts a server without persistence that listens only on a socket in its folder. */
const server = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const bin = yield* programs
  const memory = yield* folderInMemory
  const folder = yield* files.makeTempDirectoryScoped({
    prefix: "svc-postgres-",
    ...Option.match(memory, { onNone: () => ({}), onSome: (directory) => ({ directory }) })
  })
  if (isRoot) yield* must(["chown", "nobody:nogroup", folder])
  const data = `${folder}/data`
  yield* must(
    asUser([`${bin}/initdb`, "-D", data, "-U", "svc", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"])
  )
  const settings = [
    "listen_addresses=",
    `unix_socket_directories=${folder}`,
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "autovacuum=off",
    "max_connections=300"
  ]
  yield* Effect.acquireRelease(
    must(
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
    ),
    () => Effect.ignore(must(asUser([`${bin}/pg_ctl`, "-D", data, "-m", "immediate", "-w", "stop"])))
  )
  return `postgres:///postgres?host=${encodeURIComponent(folder)}&user=svc`
})

const outcome = /^\((?<verdict>pass|fail)\) (?<title>.+?)(?: \[[\d.]+m?s\])?$/

const titlesOf = (output: string, wanted: string): ReadonlySet<string> =>
  new Set(
    output.split("\n").flatMap((line) => {
      const { title = "", verdict } = outcome.exec(line)?.groups ?? {}
      return verdict === wanted ? [title] : []
    })
  )

const program = Effect.gen(function* () {
  const given = process.argv.slice(2)
  const chosen = given.filter((argument) => !argument.startsWith("--"))
  const tests = chosen.length > 0 ? chosen : given.includes("--short") ? shortTests : allTests
  const env = { SVC_TEST_POSTGRES: yield* server }
  yield* must([process.execPath, "test/support/PostgresTemplate.ts"], env)
  const paths = tests.map((path) => (path.startsWith(".") || path.startsWith("/") ? path : `./${path}`))
  const { code, text } = yield* run(
    [process.execPath, "test", "--preload", "./test/support/PostgresTests.ts", "--timeout", "120000", ...paths],
    env,
    (part) => Effect.sync(() => void process.stdout.write(part))
  )
  const failed = titlesOf(text, "fail")
  const passed = titlesOf(text, "pass")
  const unexpected = [...failed].filter((title) => !sqliteOnlyTests.has(title))
  const needless = [...sqliteOnlyTests.keys()].filter((title) => passed.has(title) && !failed.has(title))
  yield* Console.log(
    `On PostgreSQL: ${passed.size} titles passed; ${failed.size} failed, of which ${failed.size - unexpected.length} are about SQLite itself.`
  )
  if (needless.length > 0) {
    yield* Console.log(`Remove from test/support/SqliteOnlyTests.ts, because they pass:\n  ${needless.join("\n  ")}`)
  }
  if (passed.size === 0) return yield* new Failed({ message: `No test ran. Bun ended with ${code}.` })
  if (unexpected.length > 0) return yield* new Failed({ message: `These failed:\n  ${unexpected.join("\n  ")}` })
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
