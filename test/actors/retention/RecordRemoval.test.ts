import { afterAll, beforeEach, expect } from "bun:test"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { KillPoint, type KillPointName } from "../../../actors/KillPoint.ts"
import { RecordRemoval } from "../../../actors/retention/RecordRemoval.ts"
import { retainedKinds } from "../../../actors/retention/RetainedKinds.ts"
import { testAccounts } from "../../support/Accounts.ts"
import { suite } from "../../support/Effect.ts"
import {
  add,
  emptyWorld,
  ended,
  living,
  longAgo,
  named,
  of,
  receipt,
  run,
  snapshot,
  state,
  workspaceId
} from "./support/RetainedWorld.ts"

/** How many kill points are passed before the process dies; none are deadly without it. */
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

const young = new Date().toISOString()
const pending = { type: "plan", approved_at: longAgo(), approved_by: of("usr", "a") }

const idsOf = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: string }>`SELECT id FROM ${sql(table)} ORDER BY id`
  return rows.map(({ id }) => id)
}, Effect.orDie)

const audited = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    data: string
  }>`SELECT data FROM audit_events WHERE action = 'retention.remove' ORDER BY rowid`
  return rows.map(({ data }): Readonly<Record<string, number>> => JSON.parse(data))
}).pipe(Effect.orDie)

const dangling = Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.orDie(sql`PRAGMA foreign_key_check`))

const started = { type: "apply", status: "failed", start_acknowledged_at: longAgo() }
/** An agent that accepted an apply and was not heard from again. */
const givenUp = { kind: "apply", accepted_at: longAgo(), ended_at: longAgo(), result: null }

/** A Run for each record that may refer to one; every other reason has one too. */
const runs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* run("newest", { finished_at: longAgo(9) })
  yield* run("newestfailed", { type: "apply", status: "failed", finished_at: longAgo(9) })
  yield* run("newestbackup", { type: "backup", finished_at: longAgo(9) })
  yield* run("young", { type: "apply", finished_at: young })
  yield* run("waiting", { type: "restore", status: "waiting_approval" })
  yield* run("approved", pending)
  yield* state(living, 30, { created_by_run_id: yield* run("state"), created_at: young })
  yield* add("left_over_states", { run_id: yield* run("leftover") })
  const pinned = yield* run("pinned")
  yield* sql`UPDATE capsules SET pinned_run_id = ${pinned} WHERE id = ${living}`
  yield* add("run_groups", { id: of("rgrp", "a"), finished_at: null })
  yield* run("grouped", { run_group_id: of("rgrp", "a") })
  yield* run("applied")
  yield* run("apply", { status: "running", plan_run_id: named("run", "applied"), finished_at: null })
  yield* add("backups", { created_by_run_id: yield* run("backup", { type: "backup" }), created_at: young })
  yield* snapshot("named", { created_by_run_id: yield* run("snapshot"), created_at: young })
  yield* add("compatibility_reports", {
    source_snapshot_id: named("snap", "named"),
    created_by_run_id: yield* run("report"),
    created_at: young
  })
  yield* add("auto_update_decisions", {
    source_snapshot_id: named("snap", "named"),
    run_id: yield* run("decision"),
    updated_at: young
  })
  yield* add("install_plans", { updated_at: young })
  yield* run("install", { coordinator_kind: "install_plan", coordinator_id: of("ipl", "a") })
  yield* add("revision_plans", { updated_at: young })
  yield* run("revision", { coordinator_kind: "revision_plan", coordinator_id: of("rpl", "a") })
  yield* intent("run", yield* run("interface"), named("sv", "none"), living)
  yield* add("connection_holds", { run_id: yield* run("held") })
  yield* add("run_results", { run_id: yield* run("result") })
  yield* add("run_checkpoints", { run_id: yield* run("checkpoint") })
  yield* add("agent_runs", { run_id: yield* run("atagent"), ended_at: null })
  yield* add("agent_runs", { run_id: yield* run("owed", started), ...givenUp })
  yield* add("run_log_chunks", { run_id: yield* run("log") })
  yield* receipt(yield* run("repeated"))
}).pipe(Effect.orDie)

const intent = (name: string, runId: string, stateVersionId: string, capsuleId: string) =>
  add("interface_intents", {
    id: `intent_${name}`,
    workspace_id: workspaceId,
    capsule_id: capsuleId,
    interface_key: name,
    run_id: runId,
    install_config_id: of("icfg", "a"),
    state_version_id: stateVersionId,
    status: "pending",
    attempt: 1,
    created_at: young,
    updated_at: young
  })

const states = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (let generation = 1; generation <= 14; generation++) yield* state(living, generation)
  for (let generation = 1; generation <= 5; generation++) yield* state(ended, generation)
  yield* sql`UPDATE capsules SET current_state_version_id = ${named("sv", "l14")} WHERE id = ${living}`
  yield* sql`UPDATE capsules SET current_state_version_id = ${named("sv", "e5")} WHERE id = ${ended}`
  yield* add("outputs", { state_version_id: named("sv", "l1"), value: "12345" })
  yield* run("based", { status: "running", base_state_version_id: named("sv", "l2"), finished_at: null })
  yield* add("consumed_inputs", { state_version_id: named("sv", "l3") })
  yield* add("backups", { id: of("bkp", "b"), capsule_id: living, created_at: "2020-01-04T12:00:00.000Z" })
  yield* add("left_over_states", {
    capsule_id: ended,
    run_id: named("run", "based"),
    state_version_id: named("sv", "e1")
  })
  yield* intent("state", named("run", "none"), named("sv", "e2"), ended)
  yield* receipt(named("sv", "e3"))
  // The present state of the destroyed Capsule goes too.
  return { goes: [named("sv", "l1"), named("sv", "e4"), named("sv", "e5")] }
}).pipe(Effect.orDie)

const snapshots = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE capsules SET adopted_snapshot_id = ${yield* snapshot("adopted")},
    deferred_snapshot_id = ${yield* snapshot("deferred")},
    stale_reasons = ${JSON.stringify([{ kind: "commit", sourceSnapshotId: yield* snapshot("stale") }])} WHERE id = ${living}`
  yield* sql`UPDATE install_configs SET source_snapshot_id = ${yield* snapshot("installed")}`
  yield* add("source_lanes", { source_snapshot_id: yield* snapshot("lane") })
  yield* state(living, 20, { source_snapshot_id: yield* snapshot("rollback"), created_at: young })
  yield* state(ended, 20, { source_snapshot_id: yield* snapshot("goes"), created_at: young })
  yield* run("uses", { status: "running", source_snapshot_id: yield* snapshot("used"), finished_at: null })
  yield* run("planned", { ...pending, source_snapshot_id: yield* snapshot("planned"), finished_at: young })
  yield* add("install_plans", { phase: "planning", source_snapshot_id: yield* snapshot("install"), updated_at: young })
  yield* add("revision_plans", {
    phase: "planning",
    source_snapshot_id: yield* snapshot("revision"),
    updated_at: young
  })
  yield* add("compatibility_reports", { source_snapshot_id: yield* snapshot("reported"), created_at: young })
  yield* add("auto_update_decisions", { source_snapshot_id: yield* snapshot("decided"), updated_at: young })
  yield* receipt(yield* snapshot("repeated"))
  yield* add("compatibility_reports", {
    id: named("rep", "goes"),
    source_snapshot_id: yield* snapshot("both"),
    created_at: longAgo()
  })
  return { goes: ["goes", "both"].map((name) => named("snap", name)) }
}).pipe(Effect.orDie)

/** Why records of this kind are kept, according to the survey. */
const reasonsOf = Effect.fnUntraced(function* (kind: string) {
  const removal = yield* RecordRemoval
  const { kept } = yield* removal.survey
  return kept
    .filter((each) => each.kind === kind)
    .map(({ reason }) => reason)
    .toSorted()
})
const allReasons = (kind: string) =>
  [...new Set(retainedKinds.find(({ name }) => name === kind)?.needs.map(({ reason }) => reason))].toSorted()

tests.live("a Run stays while something names it, whatever its age; every reason has its record here", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    yield* runs
    const removal = yield* RecordRemoval
    const before = yield* idsOf("runs")
    expect<unknown>(yield* reasonsOf("runs")).toEqual(allReasons("runs"))
    const id = yield* run("goes")
    yield* add("run_plans", { run_id: id })
    yield* add("run_events", { run_id: id })
    yield* add("run_approvals", { run_id: id })
    yield* add("agent_runs", { run_id: id, ...givenUp })
    yield* add("agent_evidence", { run_id: id })
    // Nothing is owed for an apply that was not started, was started by another agent later, or whose agent is revoked.
    yield* add("agent_runs", { run_id: yield* run("unstarted"), ...givenUp })
    const sent = yield* run("sent", started)
    yield* add("agent_runs", { run_id: sent, ...givenUp })
    yield* add("agent_runs", { run_id: sent, ...givenUp, fence: 9, result: "{}", claim: "later" })
    const revoked = of("agt", "r")
    yield* add("agents", { id: revoked, name: "revoked", sign_key: "r".repeat(43), revoked_at: longAgo() })
    yield* add("agent_runs", { run_id: yield* run("revoked", started), ...givenUp, agent_id: revoked })
    expect((yield* removal.survey).removable.filter(({ kind }) => kind === "runs")).toMatchObject([{ records: 4 }])
    yield* removal.removeAll
    expect(yield* idsOf("runs")).toEqual(before)
    expect(yield* dangling).toEqual([])
  })
)

tests.live("every table that refers to Runs by a key is removed with them or keeps them", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`
    const referring = yield* Effect.filter(tables, ({ name }) =>
      Effect.map(
        sql<{ table: string }>`SELECT "table" FROM pragma_foreign_key_list(${name})`,
        (keys) => name !== "runs" && keys.some(({ table }) => table === "runs")
      )
    )
    const kind = retainedKinds.find(({ name }) => name === "runs")
    const known = (name: string) =>
      kind?.parts.some(({ table }) => table === name) === true ||
      kind?.needs.some(({ when }) => when.includes(`${name} `))
    expect(referring.length).toBeGreaterThan(5)
    expect(referring.filter(({ name }) => !known(name))).toEqual([])
  })
)

tests.live("a StateVersion stays while it is current, a rollback target, or named", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const { goes } = yield* states
    const before = yield* idsOf("state_versions")
    const removal = yield* RecordRemoval
    expect<unknown>(yield* reasonsOf("state_versions")).toEqual(allReasons("state_versions"))
    yield* removal.removeAll
    expect(yield* idsOf("state_versions")).toEqual(before.filter((id) => !goes.includes(id)))
    expect(yield* dangling).toEqual([])
  })
)

tests.live("a destroyed Capsule keeps nothing; a released one keeps its state, which may be the last copy", () =>
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
    // A record that refers to another one is removed first, the other one in the next pass.
    for (let look = 0; look < 3; look++) yield* removal.removeAll
    for (const table of ["state_versions", "source_snapshots", "runs"]) expect(yield* idsOf(table)).toEqual([])
    expect(yield* sql`SELECT run_id FROM run_events`).toEqual([])
    expect(yield* dangling).toEqual([])
  })
)

tests.live(
  "a snapshot stays while an existing Capsule, an open plan, a rollback target or a lane needs it; so does its report",
  () =>
    Effect.gen(function* () {
      yield* emptyWorld
      const { goes } = yield* snapshots
      const before = yield* idsOf("source_snapshots")
      const removal = yield* RecordRemoval
      expect<unknown>(yield* reasonsOf("source_snapshots")).toEqual(allReasons("source_snapshots"))
      for (const name of ["adopted", "lane", "rollback", "used", "install", "revision"]) {
        yield* add("compatibility_reports", {
          id: named("rep", name),
          source_snapshot_id: named("snap", name),
          created_at: longAgo()
        })
      }
      yield* add("compatibility_reports", {
        id: named("rep", "repeated"),
        source_snapshot_id: named("snap", "goes"),
        created_at: longAgo()
      })
      yield* receipt(named("rep", "repeated"))
      expect<unknown>(yield* reasonsOf("compatibility_reports")).toEqual(allReasons("compatibility_reports"))
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM compatibility_reports WHERE id = ${named("rep", "repeated")}`
      yield* removal.removeAll
      expect(yield* idsOf("source_snapshots")).toEqual(before.filter((id) => !goes.includes(id)))
      expect(yield* idsOf("compatibility_reports")).not.toContain(named("rep", "goes"))
      expect(yield* dangling).toEqual([])
    })
)

tests.live("records of plans, decisions and backups stay while they are open, newest or named", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const plan = yield* run("approved", pending)
    for (const [table, prefix] of [
      ["install_plans", "ipl"],
      ["revision_plans", "rpl"]
    ] as const) {
      const old = { created_at: longAgo(), updated_at: longAgo() }
      yield* add(table, { id: named(prefix, "goes"), ...old })
      yield* add(table, { id: named(prefix, "underway"), phase: "planning", ...old })
      yield* add(table, { id: named(prefix, "plan"), plan_run_id: plan, ...old })
      yield* add(table, { id: named(prefix, "repeated"), ...old })
      yield* receipt(named(prefix, "repeated"))
      expect<unknown>(yield* reasonsOf(table)).toEqual(allReasons(table))
    }
    yield* add("source_lanes", { source_snapshot_id: yield* snapshot("lane") })
    for (const [name, values] of [
      ["goes", { source_snapshot_id: yield* snapshot("goes") }],
      ["lane", { source_snapshot_id: named("snap", "lane") }],
      ["plan", { source_snapshot_id: yield* snapshot("plan"), run_id: plan }]
    ] as const) {
      yield* add("auto_update_decisions", { id: named("aud", name), updated_at: longAgo(), ...values })
    }
    yield* add("backups", { id: named("bkp", "goes"), created_at: longAgo(1) })
    yield* add("backups", { id: named("bkp", "restored"), created_at: longAgo(2) })
    yield* add("backups", { id: named("bkp", "repeated"), created_at: longAgo(3) })
    yield* add("backups", { id: named("bkp", "newest"), created_at: longAgo(4) })
    yield* add("backups", { id: named("bkp", "ofcapsule"), capsule_id: living, created_at: longAgo(1) })
    yield* receipt(named("bkp", "repeated"))
    yield* run("restore", {
      type: "restore",
      status: "waiting_approval",
      spec: JSON.stringify({ backupId: named("bkp", "restored") })
    })
    yield* add("run_groups", { id: named("rgrp", "goes"), finished_at: longAgo() })
    yield* add("run_groups", { id: named("rgrp", "repeated"), finished_at: longAgo() })
    yield* receipt(named("rgrp", "repeated"))
    yield* add("run_groups", { id: named("rgrp", "next"), finished_at: null, replaced_by: named("rgrp", "replaced") })
    yield* add("run_groups", { id: named("rgrp", "replaced"), finished_at: longAgo() })
    yield* add("run_groups", { id: named("rgrp", "run"), finished_at: longAgo() })
    yield* run("grouped", { run_group_id: named("rgrp", "run"), finished_at: young })
    for (const kind of ["auto_update_decisions", "backups", "run_groups"]) {
      expect<unknown>([kind, yield* reasonsOf(kind)]).toEqual([kind, allReasons(kind)])
    }
    const tables = ["install_plans", "revision_plans", "auto_update_decisions", "backups", "run_groups"]
    const before = yield* Effect.forEach(tables, idsOf)
    yield* (yield* RecordRemoval).removeAll
    const goes = (id: string) => id.endsWith("goes")
    expect(yield* Effect.forEach(tables, idsOf)).toEqual(before.map((ids) => ids.filter((id) => !goes(id))))
    expect(before.flat().filter(goes)).toHaveLength(5)
  })
)

tests.live("the file of an ended plan and the events of an old Run go before the Run itself", () =>
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

tests.live("a process that dies between any two steps leaves a removal that the next one ends, counted once", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const removal = yield* RecordRemoval
    yield* run("newest", { finished_at: longAgo(9) })
    for (let index = 0; index < 120; index++) {
      const run_id = yield* run(`k${index}`, { spec: "{}", evidence: "{}" })
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
    expect([total("runs"), total("run_events"), total("bytes")]).toEqual([120, 120, (119 * 10 + 600) * 10 + 120 * 4])
    const sql = yield* SqlClient.SqlClient
    expect(yield* sql`SELECT * FROM retention_tallies`).toEqual([])
  })
)

tests.live("the background job removes a part in each turn, then pauses for a day", () =>
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
