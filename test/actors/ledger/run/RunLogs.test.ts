import { afterAll, expect } from "bun:test"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import type { RunHold } from "../../../../actors/ledger/run/RunHold.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { LogEntriesJson, RunLogs } from "../../../../actors/ledger/run/RunLogs.ts"
import { defaultRunSettings, RunSettings } from "../../../../actors/ledger/run/RunSettings.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { heldRun } from "../../../support/HeldRuns.ts"
import { namedRun } from "../../../support/NamedIds.ts"

const mostLogBytes = 64 * 1024
const settings = Layer.succeed(RunSettings, {
  ...defaultRunSettings,
  runsFolder: "/nowhere",
  mostLogBytes
})

const tests = suite(
  Layer.mergeAll(RunLedger.layer, RunLogs.layer).pipe(
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(RunJournal.layer),
    Layer.provide(settings),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)

const newRun = Effect.fnUntraced(function* (name: string) {
  const owner = yield* newPerson(name)
  const { id } = yield* newWorkspace(owner.subject, { handle: name })
  const runId = namedRun(name)

  yield* (yield* RunLedger).insert({ id: runId, workspaceId: id, type: "plan", trigger: "user", spec: {} })
  return yield* heldRun(runId)
})

/** Whenever the effect reads the time, first lets `interruption` run until it blocks. */
const whenTimeIsRead = (interruption: Effect.Effect<unknown>) =>
  Effect.updateService(
    Clock.Clock,
    (clock): Clock.Clock =>
      Object.assign(Object.create(clock), {
        currentTimeMillis: Effect.forkDetach(interruption, { startImmediately: true }).pipe(
          Effect.andThen(clock.currentTimeMillis)
        )
      })
  )

/** Opens a Run's log and writes numbered lines of 1024 characters, starting at `from`. */
const printed = (hold: RunHold, from: number, count: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const log = yield* (yield* RunLogs).open(hold)
      for (let index = from; index < from + count; index++) {
        yield* log.write("build", "stdout", `${index} `.padEnd(1024, "x"))
      }
    })
  )

const stored = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient
  const chunks = yield* sql<{ entries: string }>`
    SELECT entries FROM run_log_chunks WHERE run_id = ${runId} ORDER BY first_seq`
  return chunks.flatMap(({ entries }) => LogEntriesJson.read(entries))
})

tests.live("the log of a Run that prints endlessly keeps its beginning and end, with consecutive entry numbers", () =>
  Effect.gen(function* () {
    const hold = yield* newRun("endless")
    yield* printed(hold, 0, 5000)
    const entries = yield* stored(hold.runId)
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
    expect(entries.length * 1024).toBeLessThan(8 * mostLogBytes)
    expect(entries[0]?.text).toStartWith("0 ")
    expect(entries.at(-1)?.text).toStartWith("4999 ")
    const notes = entries.filter(({ stream }) => stream === "system").map(({ text }) => text)
    expect(notes).toEqual([
      `${5000 - entries.length + 1} lines were left out here: the log of a Run keeps its first ${mostLogBytes} bytes and its last lines.`
    ])
  })
)

tests.live("another attempt at a Run does not get additional log space", () =>
  Effect.gen(function* () {
    const first = yield* newRun("again")
    const { runId } = first
    yield* printed(first, 0, 100)
    expect((yield* stored(runId)).length).toBe(100)
    yield* (yield* RunLifecycle).requeue(first, "again", { counts: true })
    yield* printed(yield* heldRun(runId), 100, 2000)
    const entries = yield* stored(runId)
    expect(entries.at(-1)?.text).toStartWith("2099 ")
    expect((entries.length - 100) * 1024).toBeLessThan(5 * mostLogBytes)
  })
)

tests.live("a log keeps a line even if earlier lines are stored while the line's time is read", () =>
  Effect.gen(function* () {
    const hold = yield* newRun("flushed-between")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const log = yield* (yield* RunLogs).open(hold)
        yield* log.write("build", "stdout", "one")
        yield* whenTimeIsRead(Effect.ignore(log.flush))(log.write("build", "stdout", "two"))
        yield* log.write("build", "stdout", "three")
      })
    )
    expect((yield* stored(hold.runId)).map(({ text }) => text)).toEqual(["one", "two", "three"])
  })
)

tests.live("a log reports how many lines it omitted even if lines are stored while it closes", () =>
  Effect.gen(function* () {
    const hold = yield* newRun("closed-between")
    let flush: Effect.Effect<void> = Effect.void
    yield* Effect.scoped(
      Effect.gen(function* () {
        const log = yield* (yield* RunLogs).open(hold)
        for (let index = 0; index < 2000; index++) {
          yield* log.write("build", "stdout", `${index} `.padEnd(1024, "x"))
        }
        flush = Effect.ignore(log.flush)
      })
    ).pipe(whenTimeIsRead(Effect.suspend(() => flush)))
    const entries = yield* stored(hold.runId)
    const notes = entries.filter(({ stream }) => stream === "system").map(({ text }) => text)
    expect(notes).toEqual([
      `${2000 - entries.length + 1} lines were left out here: the log of a Run keeps its first ${mostLogBytes} bytes and its last lines.`
    ])
    expect(entries.at(-1)?.text).toStartWith("1999 ")
  })
)

tests.live("recovery ends the logs of gone servers, and leaves open the log of a server that still writes", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [gone, present] = [yield* newRun("log-gone"), yield* newRun("log-present")]
    for (const [{ runId }, owner] of [
      [gone, "node_gone"],
      [present, "node_present"]
    ] as const) {
      yield* sql`UPDATE runs SET status = 'succeeded', owner = ${owner}, log_ended_at = NULL,
        started_at = COALESCE(started_at, created_at) WHERE id = ${runId}`
    }
    yield* (yield* RunLogs).endAbandoned((owner) => Effect.succeed(owner === "node_gone"))
    const ended = yield* sql<{ id: string }>`SELECT id FROM runs
      WHERE ${sql.in("id", [gone.runId, present.runId])} AND log_ended_at IS NOT NULL`
    expect(ended.map(({ id }) => id)).toEqual([gone.runId])
  })
)
