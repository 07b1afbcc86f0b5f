import { afterAll, beforeEach, expect } from "bun:test"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { KillPoint, type KillPointName } from "../../../../actors/base/KillPoint.ts"
import { RecordRemoval } from "../../../../actors/upkeep/retention/RecordRemoval.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import {
  add,
  emptyWorld,
  ended,
  living,
  longAgo,
  named,
  of,
  run,
  snapshot,
  state,
  workspaceId
} from "./support/RetainedWorld.ts"
import { young, pending, idsOf, dangling, reasonsOf, allReasons } from "./support/Removal.ts"

/** Number of kill points that the process passes before it is killed. If unset, the process survives. */
let survived: number | undefined
const passed = new Set<KillPointName>()
const mortal = Layer.succeed(KillPoint, (name) =>
  Effect.suspend(() => {
    passed.add(name)
    if (survived === undefined) return Effect.void
    survived -= 1
    return survived < 0 ? Effect.die("killed") : Effect.void
  })
)

const tests = suite(RecordRemoval.layer.pipe(Layer.provide(mortal), Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)
beforeEach(() => {
  survived = undefined
  passed.clear()
})

const audited = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    data: string
  }>`SELECT data FROM audit_events WHERE action = 'retention.remove' ORDER BY created_at, position`
  return rows.map(({ data }): Readonly<Record<string, number>> => JSON.parse(data))
}).pipe(Effect.orDie)

tests.live(
  "a destroyed Capsule keeps no records, but a released Capsule keeps its state, which may be the last copy",
  () =>
    Effect.gen(function* () {
      yield* emptyWorld
      const sql = yield* SqlClient.SqlClient
      const removal = yield* RecordRemoval
      const made = yield* run("made", {
        capsule_id: ended,
        type: "apply",
        plan_run_id: yield* run("plan", { type: "plan" })
      })
      yield* add("run_events", { run_id: made })
      yield* state(ended, 5, { created_by_run_id: made, source_snapshot_id: yield* snapshot("last") })
      yield* sql`UPDATE runs SET capsule_id = ${ended}`
      yield* sql`UPDATE capsules SET status = 'released', current_state_version_id = ${named("sv", "e5")} WHERE id = ${ended}`
      yield* removal.removeAll
      expect(yield* idsOf("state_versions")).toEqual([named("sv", "e5")])
      expect(yield* idsOf("source_snapshots")).toEqual([named("snap", "last")])
      expect(yield* idsOf("runs")).toEqual([named("run", "made"), named("run", "plan")].toSorted())
      expect(yield* sql`SELECT run_id FROM run_events`).toEqual([{ run_id: made }])
      yield* sql`UPDATE capsules SET status = 'destroyed' WHERE id = ${ended}`
      yield* add("backups", { id: named("bkp", "whole"), capsule_id: null, created_at: young })
      // The first pass removes a record that refers to a second record. The next pass removes the second record.
      for (let look = 0; look < 3; look++) yield* removal.removeAll
      for (const table of ["state_versions", "source_snapshots", "runs"]) expect(yield* idsOf(table)).toEqual([])
      expect(yield* sql`SELECT run_id FROM run_events`).toEqual([])
      expect(yield* dangling).toEqual([])
    })
)

tests.live("the file of a finished plan and the events of an old Run are removed earlier than the Run itself", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const sql = yield* SqlClient.SqlClient
    const lately = new Date(Date.now() - 200 * 86_400_000).toISOString()
    yield* run("newest", { finished_at: young })
    yield* run("newestplan", { type: "plan", status: "superseded", finished_at: young })
    for (const [name, values] of [
      ["goes", { type: "plan", status: "superseded" }],
      ["waits", { type: "plan", status: "waiting_approval" }],
      ["approved", pending],
      ["applied", { ...pending, used_by_run_id: named("run", "apply") }]
    ] as const) {
      const run_id = yield* run(name, { finished_at: lately, ...values })
      yield* add("run_plans", { run_id, plan_file: "0123456789" })
      yield* add("run_events", { run_id })
    }
    yield* run("apply", { type: "apply", status: "running", plan_run_id: named("run", "applied"), finished_at: null })
    yield* add("run_groups", { id: of("rgrp", "a"), finished_at: null })
    yield* add("run_events", { run_id: yield* run("grouped", { run_group_id: of("rgrp", "a"), finished_at: lately }) })
    yield* sql`UPDATE capsules SET current_state_version_id = ${yield* state(living, 40, {
      created_by_run_id: yield* run("made", { finished_at: lately }),
      created_at: young
    })} WHERE id = ${living}`
    yield* add("run_events", { run_id: named("run", "made") })
    yield* add("run_events", { run_id: yield* run("failed", { status: "failed", finished_at: lately }) })
    expect<unknown>(yield* reasonsOf("plan_files")).toEqual(allReasons("plan_files"))
    expect<unknown>(yield* reasonsOf("run_events")).toEqual(allReasons("run_events"))
    const before = yield* idsOf("runs")
    const removal = yield* RecordRemoval
    const expected = [
      { kind: "plan_files", workspaceId, records: 1, bytes: 10 + "lock".length },
      { kind: "run_events", workspaceId, records: 2, bytes: 4 }
    ]
    expect<unknown>((yield* removal.survey).removable).toEqual(expected)
    expect<unknown>(yield* removal.removeAll).toEqual(expected)
    expect(yield* idsOf("runs")).toEqual(before)
    const left = yield* sql`SELECT run_id FROM run_plans UNION ALL SELECT run_id FROM run_events`
    expect(left.map((row) => row["run_id"])).not.toContain(named("run", "goes"))
    expect(left).toHaveLength(8)
    expect(yield* audited).toEqual([{ plan_files: 1, run_events: 2, bytes: 18 }])
  })
)

tests.live(
  "the next process completes a record removal killed between any two steps, and counts the removal once",
  () =>
    Effect.gen(function* () {
      yield* emptyWorld
      const removal = yield* RecordRemoval
      yield* run("newest", { finished_at: longAgo(9) })
      for (let index = 0; index < 120; index++) {
        const run_id = yield* run(`k${index}`, { spec: "{}", evidence: "{}", plan_details: "{}" })
        for (let seq = 1; seq <= (index === 7 ? 600 : 10); seq++)
          yield* add("run_events", { run_id, seq, data: "0123456789" })
      }
      let deaths = 0
      for (let isDone = false; !isDone; ) {
        survived = deaths % 3
        const exit = yield* Effect.exit(removal.removeAll)
        isDone = Exit.isSuccess(exit)
        if (Exit.isFailure(exit)) {
          expect(Cause.squash(exit.cause)).toBe("killed")
          deaths += 1
        }
        expect(deaths).toBeLessThan(100)
      }
      expect(deaths).toBeGreaterThan(3)
      expect([...passed].toSorted()).toEqual(["retention.passed", "retention.removed"])
      expect(yield* idsOf("runs")).toEqual([named("run", "newest")])
      const events = yield* audited
      const total = (key: string) => events.reduce((sum, event) => sum + (event[key] ?? 0), 0)
      expect([total("runs"), total("run_events"), total("bytes")]).toEqual([120, 120, (119 * 10 + 600) * 10 + 120 * 6])
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT * FROM retention_tallies`).toEqual([])
    })
)

tests.live("the retention job removes one batch per turn, then pauses for a day", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const removal = yield* RecordRemoval
    yield* run("newest", { finished_at: longAgo(9) })
    yield* run("old")
    yield* removal.removeSome
    expect(yield* idsOf("runs")).toEqual([named("run", "newest")])
    expect(yield* audited).toMatchObject([{ runs: 1 }])
    yield* run("later")
    yield* removal.removeSome
    expect(yield* idsOf("runs")).toContain(named("run", "later"))
  })
)
