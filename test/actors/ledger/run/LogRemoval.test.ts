import { afterAll, beforeEach, expect } from "bun:test"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { KillPoint, type KillPointName } from "../../../../actors/base/KillPoint.ts"
import { LogRemoval } from "../../../../actors/ledger/run/LogRemoval.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import * as RunStreamsLive from "../../../../actors/commands/run/RunStreamsLive.ts"
import { representativeRows } from "../../../src/database/support/RepresentativeRows.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { namedRun } from "../../../support/NamedIds.ts"

/** Number of kill points that the process passes before it is killed. If unset, the process survives. */
let survived: number | undefined
const passed: Array<KillPointName> = []
const mortal = Layer.succeed(KillPoint, (name) =>
  Effect.suspend(() => {
    passed.push(name)
    if (survived === undefined) return Effect.void
    survived -= 1
    return survived < 0 ? Effect.die("killed") : Effect.void
  })
)

const tests = suite(
  Layer.mergeAll(LogRemoval.layer, RunStreamsLive.layer).pipe(
    Layer.provide(mortal),
    Layer.provideMerge(RunJournal.layer),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)
beforeEach(() => {
  survived = undefined
  passed.length = 0
})

const of = (prefix: string, letter: string) => `${prefix}_${letter.repeat(24)}`
const long = "2020-01-01T00:00:00.000Z"

const transacted = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.orDie(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(effect)))

/** Inserts a finished Run that is older than the log retention period and has this many batches of log lines. */
const loggedRun = Effect.fnUntraced(function* (
  name: string,
  chunks: number,
  columns: Readonly<Record<string, string | number | null>> = {}
) {
  const sql = yield* SqlClient.SqlClient
  const id = namedRun(name)
  yield* sql`INSERT INTO runs ${sql.insert({
    id,
    workspace_id: of("ws", "a"),
    type: "source_sync",
    status: "succeeded",
    requires_approval: 0,
    trigger_kind: "user",
    attempt: 1,
    spec: "{}",
    evidence: "{}",
    created_at: long,
    queued_at: long,
    started_at: long,
    finished_at: long,
    log_ended_at: long,
    last_log_seq: chunks,
    ...columns
  })}`
  for (let seq = 1; seq <= chunks; seq++) {
    yield* sql`INSERT INTO run_log_chunks ${sql.insert({
      run_id: id,
      first_seq: seq,
      last_seq: seq,
      bytes: 100,
      entries: `[{"seq":${seq},"at":"${long}","phase":"plan","stream":"stdout","text":"line"}]`
    })}`
  }
  return id
}, transacted)

const needed = ["users", "workspaces", "projects", "sources", "install_configs", "capsules", "runs", "state_versions"]

/** An installation with one applied Capsule and no records from earlier tests. */
const furnished = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [table, values] of representativeRows) {
    if (needed.includes(table)) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
  }
  yield* sql`DELETE FROM run_log_chunks`
  yield* sql`DELETE FROM audit_events`
  yield* sql`UPDATE runs SET log_ended_at = NULL, log_removing = 0`
}).pipe(Effect.orDie)

const logged = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ run_id: string; chunks: number }>`SELECT run_id, COUNT(*) AS chunks FROM run_log_chunks
    GROUP BY run_id ORDER BY run_id`
  return Object.fromEntries(rows.map(({ chunks, run_id }) => [run_id, chunks]))
}).pipe(Effect.orDie)

const audited = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ workspace_id: string; data: string }>`SELECT workspace_id, data FROM audit_events
    WHERE action = 'run_log.remove' ORDER BY created_at, position`
  return rows.map(({ data, workspace_id }) => ({ workspace_id, ...JSON.parse(data) }))
}).pipe(Effect.orDie)

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

tests.live("log removal deletes exactly the logs that the survey found, and keeps needed logs of any age", () =>
  Effect.gen(function* () {
    yield* furnished
    const capsule_id = of("cap", "b")
    const newer = new Date().toISOString()
    const stays = [
      yield* loggedRun("young", 1, { log_ended_at: newer }),
      yield* loggedRun("open", 1, { log_ended_at: null }),
      yield* loggedRun("review", 1, { type: "plan", status: "waiting_approval" }),
      yield* loggedRun("approved", 1, { type: "plan", approved_at: long, approved_by: "usr" }),
      yield* loggedRun("lastsync", 1, { source_id: of("src", "z"), created_at: newer }),
      yield* loggedRun("lastrun", 1, { capsule_id, created_at: "2099-01-01T00:00:00.000Z", type: "drift_check" }),
      yield* loggedRun("madeplan", 1, {
        capsule_id,
        type: "plan",
        approved_at: long,
        used_by_run_id: namedRun("made")
      }),
      yield* loggedRun("made", 1, { capsule_id, type: "apply", plan_run_id: namedRun("madeplan") })
    ]
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE state_versions SET created_by_run_id = ${namedRun("made")} WHERE id = ${of("sv", "b")}`
    const goes = [
      yield* loggedRun("oldsync", 2, { source_id: of("src", "z") }),
      yield* loggedRun("oldrun", 3, { capsule_id, type: "drift_check" }),
      yield* loggedRun("usedplan", 1, { capsule_id, type: "plan", approved_at: long, used_by_run_id: namedRun("x") }),
      yield* loggedRun("failed", 1, { capsule_id, type: "apply", status: "failed" })
    ]
    const removal = yield* LogRemoval
    const expected = [{ workspaceId: of("ws", "a"), runs: goes.length, bytes: 700 }] as const
    expect<unknown>(yield* removal.survey).toEqual(expected)
    expect(Object.keys(yield* logged)).toHaveLength(stays.length + goes.length)
    expect(yield* audited).toEqual([])

    expect<unknown>(yield* removal.removeAll).toEqual(expected)
    expect(Object.keys(yield* logged)).toEqual(stays.toSorted())
    expect(yield* audited).toMatchObject([{ workspace_id: of("ws", "a"), runs: goes.length, bytes: 700 }])
    expect(yield* removal.survey).toEqual([])
    expect(yield* removal.removeAll).toEqual([])
    expect(yield* audited).toHaveLength(1)
  })
)

tests.live("destroying a Capsule makes all its logs removable, including the log of its last apply", () =>
  Effect.gen(function* () {
    yield* furnished
    const sql = yield* SqlClient.SqlClient
    const capsule_id = of("cap", "b")
    const logs = [
      yield* loggedRun("lastofall", 1, { capsule_id, created_at: "2099-01-01T00:00:00.000Z", type: "drift_check" }),
      yield* loggedRun("lastapply", 1, { capsule_id, type: "apply" })
    ]
    yield* sql`UPDATE state_versions SET created_by_run_id = ${namedRun("lastapply")} WHERE id = ${of("sv", "b")}`
    const removal = yield* LogRemoval
    yield* removal.removeAll
    expect(Object.keys(yield* logged)).toEqual(logs.toSorted())
    yield* sql`UPDATE capsules SET status = 'destroyed' WHERE id = ${capsule_id}`
    yield* removal.removeAll
    expect(yield* logged).toEqual({})
  })
)

tests.live(
  "the next process finishes a log removal that was interrupted at any step, and records the removal in the audit trail once",
  () =>
    Effect.gen(function* () {
      const removal = yield* LogRemoval
      yield* furnished
      const other = yield* newWorkspace((yield* newPerson("other")).subject, { handle: "other" })
      for (let index = 0; index < 230; index++) {
        yield* loggedRun(`k${index}`, index === 0 ? 150 : 1, index % 2 === 0 ? {} : { workspace_id: other.id })
      }
      let deaths = 0
      let done = false
      while (!done) {
        survived = deaths % 3
        const exit = yield* Effect.exit(removal.removeAll)
        done = Exit.isSuccess(exit)
        if (Exit.isFailure(exit)) {
          expect(Cause.squash(exit.cause)).toBe("killed")
          deaths += 1
        }
        const streams = yield* RunStreams
        const page = yield* streams.logs(namedRun("k0"), 0, 1000)
        // A log is removed entirely or not at all, because half a log would mislead readers.
        expect([0, 150]).toContain(page.items.length)
        expect(deaths).toBeLessThan(100)
      }
      expect(deaths).toBeGreaterThan(5)
      expect([...new Set(passed)].toSorted()).toEqual(["log_removal.erased", "log_removal.marked"])
      expect(yield* logged).toEqual({})
      const events = yield* audited
      expect(sum(events.map(({ runs }) => runs))).toBe(230)
      expect(sum(events.map(({ bytes }) => bytes))).toBe((150 + 229) * 100)
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT id FROM runs WHERE log_removing = 1`).toEqual([])
    })
)

tests.live("a Run shows when its log was removed, and the removed log is shown as empty and complete", () =>
  Effect.gen(function* () {
    yield* furnished
    const id = yield* loggedRun("said", 2)
    yield* setRun(id, { log_removed_at: long, log_removing: 1 })
    const streams = yield* RunStreams
    expect(yield* streams.logs(id, 0, 10)).toEqual({ items: [], nextAfter: 0, done: true })
    const removal = yield* LogRemoval
    expect(yield* removal.removeAll).toEqual([])
    expect(yield* logged).toEqual({})
  })
)

tests.live("the background job removes one batch of a log per turn, then pauses", () =>
  Effect.gen(function* () {
    yield* furnished
    const removal = yield* LogRemoval
    yield* loggedRun("many", 33 * 32 * 7)
    yield* loggedRun("more", 1)
    yield* removal.removeSome
    const first = yield* logged
    expect(sum(Object.values(first))).toBeGreaterThan(0)
    yield* removal.removeSome
    expect(yield* logged).toEqual({})
    yield* loggedRun("later", 1)
    yield* removal.removeSome
    expect(Object.keys(yield* logged)).toEqual([namedRun("later")])
  })
)
