import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RunJournal } from "../../../actors/run/RunJournal.ts"
import { RunLedger } from "../../../actors/run/RunLedger.ts"
import { decodeChunk, RunLogs } from "../../../actors/run/RunLogs.ts"
import { defaultRunSettings, RunSettings } from "../../../actors/run/RunSettings.ts"
import { newPerson, newWorkspace, testAccounts } from "../../support/Accounts.ts"
import { suite } from "../../support/Effect.ts"

const mostLogBytes = 64 * 1024
const settings = Layer.succeed(RunSettings, {
  ...defaultRunSettings,
  runsFolder: "/nowhere",
  mostLogBytes
})

const tests = suite(
  Layer.mergeAll(RunLedger.layer, RunLogs.layer).pipe(
    Layer.provideMerge(RunJournal.layer),
    Layer.provide(settings),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)

const newRun = Effect.fnUntraced(function* (name: string) {
  const owner = yield* newPerson(name)
  const { id } = yield* newWorkspace(owner.subject, { handle: name })
  const runId = `run_${name}`
  yield* (yield* RunLedger).insert({ id: runId, workspaceId: id, type: "plan", trigger: "user", spec: {} })
  return runId
})

/** Opens the log of a Run and writes lines of 1024 characters, numbered from `from`. */
const printed = (runId: string, from: number, count: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const log = yield* (yield* RunLogs).open(runId)
      for (let index = from; index < from + count; index++) {
        yield* log.write("build", "stdout", `${index} `.padEnd(1024, "x"))
      }
    })
  )

const stored = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient
  const chunks = yield* sql<{ entries: string }>`
    SELECT entries FROM run_log_chunks WHERE run_id = ${runId} ORDER BY first_seq`
  return (yield* Effect.forEach(chunks, ({ entries }) => decodeChunk(entries))).flat()
})

tests.live("a Run that prints without end keeps the beginning and the end of its log, numbered without gaps", () =>
  Effect.gen(function* () {
    const runId = yield* newRun("endless")
    yield* printed(runId, 0, 5000)
    const entries = yield* stored(runId)
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

tests.live("another attempt of the Run does not get the room again", () =>
  Effect.gen(function* () {
    const runId = yield* newRun("again")
    yield* printed(runId, 0, 100)
    const first = (yield* stored(runId)).length
    expect(first).toBe(100)
    yield* printed(runId, 100, 2000)
    const entries = yield* stored(runId)
    expect(entries.at(-1)?.text).toStartWith("2099 ")
    expect((entries.length - first) * 1024).toBeLessThan(5 * mostLogBytes)
  })
)
