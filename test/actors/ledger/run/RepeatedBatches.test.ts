import { afterAll, expect } from "bun:test"
import { Effect, Layer, References, Result } from "effect"
import { SqlClient } from "effect/sql"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { type ReportedEvent, RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import type { RunHold } from "../../../../actors/ledger/run/RunHold.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { LogEntriesJson, RunLogs } from "../../../../actors/ledger/run/RunLogs.ts"
import { defaultRunSettings, RunSettings } from "../../../../actors/ledger/run/RunSettings.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { heldRun } from "../../../support/HeldRuns.ts"
import { namedRun } from "../../../support/NamedIds.ts"

/**
 * Simulated faults of the log's database connection: the number of coming transactions that commit but report a failure
 * (`cuts`), whether every transaction fails (`refuses`), and the number of failures so far (`refused`).
 */
const line = { cuts: 0, refuses: false, refused: 0 }

const answerLost = new SqlError({
  reason: new ConnectionError({ cause: "cut", message: "The answer was lost.", operation: "commit" })
})

const refused = new SqlError({
  reason: new ConnectionError({ cause: "full", message: "The disk is full.", operation: "commit" })
})

/** A database that can lose acknowledgements or reject writes. */
const overLine = Layer.effect(
  SqlClient.SqlClient,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const withTransaction: typeof sql.withTransaction = (effect) =>
      Effect.suspend(() => {
        if (line.refuses) {
          line.refused += 1
          return Effect.fail(refused)
        }
        return Effect.tap(sql.withTransaction(effect), () => {
          if (line.cuts === 0) return Effect.void
          line.cuts -= 1
          return Effect.fail(answerLost)
        })
      })
    return new Proxy(sql, {
      get: (target, name) => (name === "withTransaction" ? withTransaction : Reflect.get(target, name))
    })
  })
)

const tests = suite(
  Layer.mergeAll(RunLedger.layer, RunLogs.layer.pipe(Layer.provide(overLine))).pipe(
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(RunJournal.layer),
    Layer.provide(Layer.succeed(RunSettings, { ...defaultRunSettings, runsFolder: "/nowhere" })),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)

const newRun = Effect.fnUntraced(function* (name: string) {
  const owner = yield* newPerson(name)
  const { id } = yield* newWorkspace(owner.subject, { handle: name })
  yield* (yield* RunLedger).insert({ id: namedRun(name), workspaceId: id, type: "apply", trigger: "user", spec: {} })
  return yield* heldRun(namedRun(name))
})

/** Claims the Run again, under the next fence. */
const claimedAgain = Effect.fnUntraced(function* (hold: RunHold) {
  yield* (yield* RunLifecycle).requeue(hold, "again", { counts: true })
  return yield* heldRun(hold.runId)
})

const event = (summary: string): ReportedEvent => ({
  at: "2026-01-01T00:00:00.000Z",
  kind: "diagnostic",
  data: { severity: "warning", summary }
})

const storedEvents = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ summary: string | null }>`SELECT json_extract(data, '$.summary') AS summary FROM run_events
    WHERE run_id = ${runId} AND kind = 'diagnostic' ORDER BY seq`
  return rows.map(({ summary }) => summary)
})

const storedLines = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient
  const chunks = yield* sql<{ entries: string }>`
    SELECT entries FROM run_log_chunks WHERE run_id = ${runId} ORDER BY first_seq`
  return chunks.flatMap(({ entries }) => LogEntriesJson.read(entries))
})

tests.live("a repeated event batch is stored once, and numbering restarts under the next fence", () =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const first = yield* newRun("events")
    yield* journal.receive(first, 1, [event("a"), event("b")])
    yield* journal.receive(first, 1, [event("a"), event("b")])
    yield* journal.receive(first, 2, [event("c")])
    yield* journal.receive(first, 1, [event("a"), event("b")])
    expect(yield* storedEvents(first.runId)).toEqual(["a", "b", "c"])

    const second = yield* claimedAgain(first)
    // A batch resent under the earlier fence is not stored, and not mistaken for a batch of the current fence.
    const late = yield* Effect.result(journal.receive(first, 2, [event("c")]))
    expect(Result.isFailure(late) && late.failure._tag).toBe("HoldLost")
    yield* journal.receive(second, 1, [event("d")])
    yield* journal.receive(second, 1, [event("d")])
    expect(yield* storedEvents(first.runId)).toEqual(["a", "b", "c", "d"])
  })
)

tests.live("log lines whose acknowledgement was lost are resent and stored once", () =>
  Effect.gen(function* () {
    const logs = yield* RunLogs
    const first = yield* newRun("lines")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const log = yield* logs.open(first)
        line.cuts = 2
        yield* log.write("plan", "stdout", "one")
        yield* log.flush
        yield* log.write("plan", "stdout", "two")
        yield* log.flush
        expect(line.cuts).toBe(0)
        yield* log.flush
        line.cuts = 1
      })
    )
    const second = yield* claimedAgain(first)
    yield* Effect.scoped(
      Effect.gen(function* () {
        const log = yield* logs.open(second)
        line.cuts = 1
        yield* log.write("plan", "stdout", "three")
        yield* log.flush
        expect(line.cuts).toBe(0)
      })
    )
    const lines = yield* storedLines(first.runId)
    expect(lines.map(({ text }) => text)).toEqual(["one", "two", "three"])
    expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3])
  }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
)

tests.live("log lines buffered under an earlier fence are not stored under the next fence", () =>
  Effect.gen(function* () {
    const logs = yield* RunLogs
    const first = yield* newRun("fenced")
    const left = yield* Effect.scoped(
      Effect.gen(function* () {
        const log = yield* logs.open(first)
        // Stays set, because the flush that the line scheduled may send the batch again before the next claim.
        line.cuts = Number.POSITIVE_INFINITY
        yield* log.write("plan", "stdout", "one")
        yield* log.flush
        const second = yield* claimedAgain(first)
        line.cuts = 0
        const lost = yield* Effect.result(log.flush)
        // A log that lost its hold never reports that its lines were stored.
        expect(yield* Effect.result(log.flush)).toEqual(lost)
        yield* Effect.scoped(Effect.flatMap(logs.open(second), (next) => next.write("plan", "stdout", "two")))
        return lost
      })
    )
    expect(Result.isFailure(left) && left.failure._tag).toBe("HoldLost")
    expect((yield* storedLines(first.runId)).map(({ text }) => text)).toEqual(["one", "two"])
  }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
)

tests.live("a log records the position and number of lines that the database rejected, and stores later lines", () =>
  Effect.gen(function* () {
    const logs = yield* RunLogs
    const hold = yield* newRun("refused")
    const numbered = (index: number) => `${index} `.padEnd(16 * 1024, "x")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const log = yield* logs.open(hold)
        line.refuses = true
        for (let index = 0; index < 200; index++) yield* log.write("plan", "stdout", numbered(index))
        // Number of failed attempts so far, all made by the flush that the first line scheduled.
        const attempts = line.refused
        yield* eventually(
          Effect.sync(() => line.refused),
          (now) => now > attempts
        )
        line.refuses = false
        // Nothing flushes this log explicitly. The log retries until the database accepts writes again.
        for (let index = 200; (yield* storedLines(hold.runId)).length === 0; index++) {
          yield* log.write("plan", "stdout", numbered(index))
          yield* Effect.promise(() => new Promise<void>((done) => setImmediate(done)))
        }
        yield* log.write("plan", "stdout", "after")
      })
    )
    const lines = (yield* storedLines(hold.runId)).map(({ text }) => text)
    const noted = lines.findIndex((text) => text.includes("lines were lost here"))
    expect(lines.slice(0, noted)).toEqual(Array.from({ length: noted }, (_, index) => numbered(index)))
    const lost = Number(/^[0-9]+/.exec(lines[noted] ?? "")?.[0])
    const next = lines[noted + 1] ?? ""
    expect(next === "after" || next.startsWith(`${noted + lost} `)).toBe(true)
    expect(lines.filter((text) => text.includes("lines were lost here"))).toHaveLength(1)
    expect(lines.at(-1)).toBe("after")
  }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
)
