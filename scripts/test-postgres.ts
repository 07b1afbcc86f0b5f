// `npm run test:postgres`: starts a PostgreSQL server in memory, runs the tests with databases on this server, and compares
// the failures with `test/support/SqliteOnlyTests.ts`, which lists the tests that are specific to SQLite. Arguments, in any
// order, after `--`:
// - files and folders of tests; `test/actors` and `test/src/http` if there are none
// - `--short`: the CI selection
// - `--distance=1`: the database answers as if it were 1 ms away, and the longest transactions are printed at the end
import process from "node:process"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { distantDatabase, type ObservedTransaction } from "../test/bench/support/DistantDatabase.ts"
import { sqliteOnlyTests } from "../test/support/SqliteOnlyTests.ts"
import { Failed, must, postgresServer, run } from "./PostgresServer.ts"

const shortTests = [
  "test/src/database/postgres",
  "test/src/database/move",
  "test/e2e/PostgresJob.test.ts",
  "test/actors/base/audit",
  "test/actors/base/idempotency",
  "test/actors/ledger/run/RunJournal.test.ts",
  "test/actors/running/queue/AgentQueue.test.ts",
  "test/actors/running/queue/QueueRows.test.ts",
  "test/src/http/RevokedReads.test.ts"
]
const allTests = [
  "test/src/database/postgres",
  "test/src/database/move",
  "test/src/cli/MoveCommand.test.ts",
  "test/e2e/PostgresJob.test.ts",
  "test/actors",
  "test/src/http"
]

const outcome = /^\((?<verdict>pass|fail)\) (?<title>.+?)(?: \[[\d.]+m?s\])?$/

const titlesOf = (output: string, wanted: string): ReadonlySet<string> =>
  new Set(
    output.split("\n").flatMap((line) => {
      const { title = "", verdict } = outcome.exec(line)?.groups ?? {}
      return verdict === wanted ? [title] : []
    })
  )

const distanceOption = "--distance="
const shownTransactions = 5

/** Prints the transactions with the most statements, and those that took longest. Tests write in transactions too. */
const printLongest = (transactions: ReadonlyArray<ObservedTransaction>) => {
  const shown = (order: (transaction: ObservedTransaction) => number) =>
    transactions
      .toSorted((a, b) => order(b) - order(a))
      .slice(0, shownTransactions)
      .map(({ first, millis, statements }) => `  ${statements} statements, ${millis.toFixed(0)} ms: ${first}`)
  return Console.log(
    [
      `${transactions.length} transactions. Most statements:`,
      ...shown(({ statements }) => statements),
      "Longest:",
      ...shown(({ millis }) => millis)
    ].join("\n")
  )
}

const program = Effect.gen(function* () {
  const given = process.argv.slice(2)
  const chosen = given.filter((argument) => !argument.startsWith("--"))
  const tests = chosen.length > 0 ? chosen : given.includes("--short") ? shortTests : allTests
  const server = yield* postgresServer
  yield* must([process.execPath, "test/support/PostgresTemplate.ts"], { SVC_TEST_POSTGRES: server.url })
  const distance = given.find((argument) => argument.startsWith(distanceOption))?.slice(distanceOption.length)
  const distant = distance === undefined ? undefined : yield* distantDatabase(server.socket, Number(distance))
  const env = {
    SVC_TEST_POSTGRES: distant === undefined ? server.url : `postgres://svc@127.0.0.1:${distant.port}/postgres`
  }
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
  if (distant !== undefined) yield* printLongest(distant.take())
  if (needless.length > 0) {
    yield* Console.log(`Remove from test/support/SqliteOnlyTests.ts, because they pass:\n  ${needless.join("\n  ")}`)
  }
  if (passed.size === 0) return yield* new Failed({ message: `No test ran. Bun ended with ${code}.` })
  if (unexpected.length > 0) return yield* new Failed({ message: `These failed:\n  ${unexpected.join("\n  ")}` })
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
