import { afterAll, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Cause, Context, Effect, Exit, Layer } from "effect"
import { HttpClient } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../actors/base/database/Transaction.ts"
import { archiveContents } from "../../../actors/ledger/state/BackupArchive.ts"
import { readDocument, readState } from "../../../runner/document/Documents.ts"
import { Redaction } from "../../../runner/redaction/Redaction.ts"
import { HclParser } from "../../../runner/scan/HclParser.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { testDatabase } from "../../support/Database.ts"
import { suite } from "../../support/Effect.ts"

const tests = suite(Layer.mergeAll(platform, Redaction.layer, HclParser.layer).pipe(Layer.provideMerge(testDatabase)))
afterAll(tests.dispose)

const bytes = new TextEncoder().encode("{}")

type Needs = ChildProcessSpawner.ChildProcessSpawner | HclParser | HttpClient.HttpClient | Redaction

const document = readDocument("json", bytes)

/** A short example of each operation that waits for a thread, a process or the network. */
const slow: Readonly<Record<string, Effect.Effect<unknown, unknown, Needs>>> = {
  "a document": document,
  "a state": readState(bytes),
  "a backup": archiveContents(bytes),
  "the search for secrets": Effect.scoped(Effect.flatMap(Redaction, ({ redactor }) => redactor([]))),
  "the parser of modules": Effect.flatMap(HclParser, ({ parse }) => parse("a = 1")),
  "a process": Effect.scoped(
    Effect.flatMap(ChildProcessSpawner.ChildProcessSpawner, ({ exitCode }) => exitCode(ChildProcess.make("true", [])))
  ),
  "a request": Effect.scoped(Effect.flatMap(HttpClient.HttpClient, (client) => client.get("http://127.0.0.1:9/")))
}

/** Returns true if the effect was rejected because it ran in a transaction. */
const isRefused = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(
    Effect.exit(effect),
    (exit) => Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("inside a database transaction")
  )

for (const [name, effect] of Object.entries(slow)) {
  tests.live(`${name} can be awaited outside a transaction and is rejected inside`, () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      expect(yield* isRefused(effect)).toBe(false)
      expect(yield* isRefused(transaction(sql)(Effect.asVoid(effect)))).toBe(true)
      // A savepoint is part of its transaction.
      expect(yield* isRefused(sql.withTransaction(sql.withTransaction(Effect.asVoid(effect))))).toBe(true)
    })
  )
}

tests.live("waiting is allowed after a transaction has ended, and in a fiber outside the transaction", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const refused: Array<boolean> = []
    const note = Effect.map(isRefused(document), (one) => void refused.push(one))
    yield* transaction(sql)(sql.afterCommit(note))
    yield* transaction(sql)(
      Effect.updateContext(note, (context: Context.Context<never>) => Context.omit(sql.transactionService)(context))
    )
    expect(refused).toEqual([false, false])
  })
)

const root = join(import.meta.dir, "../../..")

test("every file that starts a thread forbids waiting for the thread inside a transaction", () => {
  const found = ["runner", "actors", "src"].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.startsWith("dashboard/"))
      .map((name) => ({ name: join(room, name), text: readFileSync(join(root, room, name), "utf8") }))
  )
  const waits = /new Worker\(|createTransport\(|\bpinnedRequest\($|authorizationCodeGrant\(|promisify\(gunzip\)/m
  const waiting = found.filter(({ text }) => waits.test(text))
  expect(waiting.length).toBeGreaterThanOrEqual(6)
  expect(waiting.filter(({ text }) => !text.includes("outsideTransaction(")).map(({ name }) => name)).toEqual([])
})
