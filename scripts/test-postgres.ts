// `npm run test:postgres`: starts a PostgreSQL server in memory, runs the tests with databases on this server, and compares
// the failures with `test/support/SqliteOnlyTests.ts`, which lists the tests that are specific to SQLite. Arguments, in any
// order, after `--`:
// - files and folders of tests; `test/actors` and `test/src/http` if there are none
// - `--short`: the CI selection
// - `--distance=1`: the database answers as if it were 1 ms away, and the longest transactions are printed at the end. The
//   command fails if a transaction is longer than `mostStatements` or `longestMillis`.
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

/** The bounds of a transaction, because it keeps every other writer waiting. */
const mostStatements = 50
const longestMillis = 250

/**
 * The duration of a transaction on a machine without other load: the round trips of its statements and of its begin and
 * commit, and the database's work.
 */
const countedMillis = ({ statements, worked }: ObservedTransaction, distance: number) =>
  (statements + 2) * distance + worked

/** Prints the transactions with the most statements, and those that took longest. Tests write in transactions too. */
const printLongest = (transactions: ReadonlyArray<ObservedTransaction>, distance: number) => {
  const described = (transaction: ObservedTransaction) => {
    const { first, millis, statements, worked } = transaction
    const counted = countedMillis(transaction, distance)
    const ratio = worked > 0 ? `, ${(counted / worked).toFixed(1)} x the work at distance 0` : ""
    return `  ${statements} statements, ${counted.toFixed(0)} ms${ratio} (${millis.toFixed(0)} ms with other load): ${first}`
  }
  const shown = (order: (transaction: ObservedTransaction) => number) =>
    transactions
      .toSorted((a, b) => order(b) - order(a))
      .slice(0, shownTransactions)
      .map(described)
  return Console.log(
    [
      `${transactions.length} transactions. Most statements:`,
      ...shown(({ statements }) => statements),
      "Longest:",
      ...shown((transaction) => countedMillis(transaction, distance))
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
  const transactions = distant?.take() ?? []
  if (distant !== undefined) yield* printLongest(transactions, Number(distance))
  if (needless.length > 0) {
    yield* Console.log(`Remove from test/support/SqliteOnlyTests.ts, because they pass:\n  ${needless.join("\n  ")}`)
  }
  if (passed.size === 0) return yield* new Failed({ message: `No test ran. Bun ended with ${code}.` })
  const tooLong = transactions.filter(
    (transaction) =>
      transaction.statements > mostStatements || countedMillis(transaction, Number(distance)) > longestMillis
  )
  if (tooLong.length > 0) {
    const message = `${tooLong.length} transactions are longer than ${mostStatements} statements or ${longestMillis} ms.`
    return yield* new Failed({ message })
  }
  if (unexpected.length > 0) return yield* new Failed({ message: `These failed:\n  ${unexpected.join("\n  ")}` })
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
