import { afterAll, expect } from "bun:test"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { type HoldLost, holdOf, type RunHold } from "../../../../actors/ledger/run/RunHold.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { logBatch } from "../../../../actors/ledger/run/RunSequences.ts"
import { RunCheckpoints } from "../../../../actors/ledger/state/RunCheckpoints.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { type RunId } from "../../../../schema/records/Ids.ts"

const tests = suite(
  Layer.mergeAll(RunLedger.layer, RunCheckpoints.layer).pipe(
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(RunJournal.layer),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)

const owners = ["inst_test#1", "inst_test#2"] as const

/** Every action that an owner can attempt, even after the owner has lost the Run without noticing. */
const acts = [
  "event",
  "send",
  "send",
  "repeat",
  "log",
  "log",
  "repeatLog",
  "record",
  "evidence",
  "checkpoint",
  "endLog",
  "succeed",
  "fail"
] as const
type Act = (typeof acts)[number]

/**
 * Generates a claim or an action by an owner, or an action from outside: `takenBack` requeues the Run, and `asked` requests
 * a stop. A paused owner is not scheduled for a while.
 */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ owner: fc.nat(1), claims: fc.constant(true) }) },
  { weight: 20, arbitrary: fc.record({ owner: fc.nat(1), isPaused: fc.nat(3), act: fc.constantFrom<Act>(...acts) }) },
  { weight: 2, arbitrary: fc.constant("takenBack" as const) },
  { weight: 1, arbitrary: fc.constant("asked" as const) }
)

/** State of one execution. The execution may have lost its hold without noticing. */
interface Side {
  readonly hold: RunHold
  events: number
  lines: number
  /** The most recent batches, which the execution may resend. */
  lastEvents: ReadonlyArray<string>
  lastLines: ReadonlyArray<string>
}

interface Model {
  holder: RunHold | undefined
  status: string
  /** A stop request remains until the Run ends, even if the Run is queued again. */
  isAsked: boolean
  logEnded: boolean
  /** The fence of the open log, set by the last claim. */
  fence: number
  events: Array<string>
  lines: Array<string>
  digest: string | null
  checkpoint: string | undefined
}

const at = "2026-01-01T00:00:00.000Z"

const told = (summary: string) => ({ severity: "warning" as const, summary })

const story = Effect.fnUntraced(function* (
  runId: RunId,
  steps: ReadonlyArray<typeof step extends fc.Arbitrary<infer A> ? A : never>
) {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const journal = yield* RunJournal
  const checkpoints = yield* RunCheckpoints
  const run = (yield* ledger.find(runId)) ?? (yield* Effect.die("no Run"))
  /** Executions of each owner, newest first. An owner may claim again while an earlier execution is paused. */
  const sides: readonly [Array<Side>, Array<Side>] = [[], []]
  const model: Model = {
    holder: undefined,
    status: "queued",
    isAsked: false,
    logEnded: false,
    fence: 0,
    events: ["run.queued"],
    lines: [],
    digest: null,
    checkpoint: undefined
  }
  const seen = { refused: 0, written: 0, repeated: 0 }
  let counter = 0

  /** Writes under a hold, and returns true if svc accepted the write. The model computes the expected result. */
  const write = Effect.fnUntraced(function* <A>(isHeld: boolean, effect: Effect.Effect<A, HoldLost>) {
    const result = yield* Effect.result(transaction(sql)(effect))
    expect(Result.isSuccess(result)).toBe(isHeld)
    if (isHeld) seen.written += 1
    else seen.refused += 1
    return isHeld
  })

  const storeLines = (hold: RunHold, number: number, lines: ReadonlyArray<string>, endedAt: string | null) =>
    Effect.gen(function* () {
      const last = yield* logBatch(sql, hold, { number, count: lines.length }, endedAt).pipe(
        Effect.catchTag("SqlError", Effect.die)
      )
      if (last === undefined || lines.length === 0) return
      const entries = lines.map((text, index) => ({ seq: last + 1 + index, at, phase: "plan", stream: "stdout", text }))
      yield* Effect.orDie(
        sql`INSERT INTO run_log_chunks ${sql.insert({
          run_id: runId,
          first_seq: last + 1,
          last_seq: last + lines.length,
          bytes: 1,
          entries: JSON.stringify(entries)
        })}`
      )
    })

  const act = Effect.fnUntraced(function* (side: Side, name: Act) {
    const { hold } = side
    const isHolder = model.holder?.fence === hold.fence && model.holder.owner === hold.owner
    const isLogging = model.fence === hold.fence && !model.logEnded
    counter += 1
    const mark = `${hold.fence}:${counter}`
    const event = (summary: string) => ({ at, kind: "diagnostic" as const, data: told(summary) })
    switch (name) {
      case "event":
        if (yield* write(isHolder, journal.report(hold, "diagnostic", told(mark)))) model.events.push(mark)
        return
      case "send": {
        const marks = [mark, `${mark}b`]
        const sent = journal.receive(hold, side.events + 1, marks.map(event))
        if (!(yield* write(isHolder, sent))) return
        side.events += 1
        side.lastEvents = marks
        model.events.push(...marks)
        return
      }
      case "repeat":
        if (side.events === 0) return
        // Resends a batch whose acknowledgement was lost. The write must fail once the execution has lost its hold.
        yield* write(isHolder, journal.receive(hold, side.events, side.lastEvents.map(event)))
        seen.repeated += 1
        return
      case "log": {
        const lines = [mark, `${mark}b`, `${mark}c`]
        if (!(yield* write(isLogging, storeLines(hold, side.lines + 1, lines, null)))) return
        side.lines += 1
        side.lastLines = lines
        model.lines.push(...lines)
        return
      }
      case "repeatLog":
        if (side.lines === 0) return
        // An execution may send its last batch again, even after its log has finished.
        yield* write(model.fence === hold.fence, storeLines(hold, side.lines, side.lastLines, null))
        seen.repeated += 1
        return
      case "endLog":
        if (!(yield* write(isLogging, storeLines(hold, side.lines + 1, [], at)))) return
        side.lines += 1
        side.lastLines = []
        model.logEnded = true
        return
      case "record":
        if (yield* write(isHolder, ledger.record(hold, { plan_digest: mark }))) model.digest = mark
        return
      case "evidence":
        yield* write(isHolder, ledger.mergeEvidence(hold, { providerLockDigest: mark }))
        return
      case "checkpoint": {
        const state = Redacted.make(new TextEncoder().encode(mark))
        if (yield* write(isHolder, checkpoints.save(hold, run.workspace_id, state))) model.checkpoint = mark
        return
      }
      case "succeed":
      case "fail": {
        const ended =
          name === "succeed"
            ? Effect.catchTag(lifecycle.succeed(hold, { stateVersionId: mark }), "StopRequested", (request) =>
                lifecycle.cancel(request.hold)
              )
            : lifecycle.fail(hold, { code: "plan_failed", message: mark })
        if (!(yield* write(isHolder, ended))) return
        model.holder = undefined
        model.status = model.isAsked ? "cancelled" : name === "succeed" ? "succeeded" : "failed"
        model.events.push(model.isAsked ? "run.cancelled" : name === "succeed" ? mark : "run.failed")
      }
    }
  })

  const claim = Effect.fnUntraced(function* (own: Array<Side>, owner: string) {
    const claimed = yield* transaction(sql)(lifecycle.claim(runId, owner))
    expect(claimed !== undefined).toBe(model.status === "queued")
    if (claimed === undefined) return
    expect(claimed.fence).toBe(model.fence + 1)
    own.unshift({ hold: holdOf(claimed), events: 0, lines: 0, lastEvents: [], lastLines: [] })
    Object.assign(model, { holder: holdOf(claimed), status: "running", fence: claimed.fence, logEnded: false })
    model.events.push("run.started")
  })

  for (const next of steps) {
    if (next === "takenBack") {
      // Requeues the Run as recovery would: under the owner's hold, but not from the owner's execution.
      if (model.holder === undefined) continue
      yield* transaction(sql)(lifecycle.requeue(model.holder, "taken back", { counts: counter % 2 === 0 }))
      Object.assign(model, { holder: undefined, status: "queued" })
      model.events.push("run.queued")
    } else if (next === "asked") {
      yield* transaction(sql)(lifecycle.requestCancel(runId, {}))
      if (model.status !== "running" || model.isAsked) continue
      model.isAsked = true
      model.events.push("run.cancelling")
    } else if ("act" in next) {
      const own = sides[next.owner === 0 ? 0 : 1]
      const side = next.isPaused === 0 ? own[1] : own[0]
      if (side !== undefined) yield* act(side, next.act)
    } else {
      yield* claim(sides[next.owner === 0 ? 0 : 1], owners[next.owner === 0 ? 0 : 1])
    }
    const row = yield* ledger.find(runId)
    expect([row?.status, row?.owner ?? undefined, row?.fence, row?.plan_digest]).toEqual([
      model.status as typeof run.status,
      model.holder?.owner,
      model.fence,
      model.digest
    ])
  }

  const events = yield* sql<{ seq: number; kind: string; text: string | null }>`
    SELECT seq, kind, COALESCE(json_extract(data, '$.summary'), json_extract(data, '$.stateVersionId')) AS text
    FROM run_events WHERE run_id = ${runId} ORDER BY seq`
  expect(events.map(({ kind, text }) => text ?? kind)).toEqual(model.events)
  expect(events.map(({ seq }) => seq)).toEqual(model.events.map((_, index) => index + 1))
  const lines = yield* sql<{ seq: number; text: string }>`
    SELECT CAST(json_extract(e.value, '$.seq') AS INTEGER) AS seq, json_extract(e.value, '$.text') AS text
    FROM run_log_chunks c, json_each(c.entries) e WHERE c.run_id = ${runId} ORDER BY c.first_seq, seq`
  expect(lines.map(({ text }) => text)).toEqual(model.lines)
  expect(lines.map(({ seq }) => seq)).toEqual(model.lines.map((_, index) => index + 1))
  const kept = yield* checkpoints.load(run.workspace_id, runId)
  const text = Option.map(kept, (state) => new TextDecoder().decode(Redacted.value(state)))
  expect(Option.getOrUndefined(text)).toBe(model.checkpoint)
  return seen
})

tests.live(
  "two owners never act for the same Run, and nothing is written under an old fence, despite pauses and lost or repeated messages",
  () =>
    Effect.gen(function* () {
      const owner = yield* newPerson("fences")
      const { id: workspaceId } = yield* newWorkspace(owner.subject, { handle: "fences" })
      const ledger = yield* RunLedger
      const stories = fc.sample(fc.array(step, { minLength: 60, maxLength: 60 }), { seed: 20_261_123, numRuns: 24 })
      const total = { refused: 0, written: 0, repeated: 0 }
      for (const [index, steps] of stories.entries()) {
        const runId = namedRun(`fence${index}`)
        yield* ledger.insert({ id: runId, workspaceId, type: "plan", trigger: "user", spec: {} })
        const seen = yield* story(runId, steps)
        total.refused += seen.refused
        total.written += seen.written
        total.repeated += seen.repeated
      }
      // Checks that the random schedules reached the situations that matter: lost holds, repeated batches and stop requests.
      expect(total.refused).toBeGreaterThan(100)
      expect(total.written).toBeGreaterThan(100)
      expect(total.repeated).toBeGreaterThan(20)
    }),
  30_000
)
