import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RecordRemoval } from "../../../../actors/upkeep/retention/RecordRemoval.ts"
import { retainedKinds } from "../../../../actors/upkeep/retention/RetainedKinds.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { add, emptyWorld, living, longAgo, named, of, receipt, run, snapshot } from "./support/RetainedWorld.ts"
import { givenUp, started, runs, states, snapshots } from "./support/NeededRecords.ts"
import { young, pending, idsOf, dangling, reasonsOf, allReasons } from "./support/Removal.ts"
import { tablesReferringTo } from "../../../support/Dialect.ts"

const tests = suite(RecordRemoval.layer.pipe(Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)

tests.live("a Run of any age is kept while a record of any kind refers to the Run", () =>
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
    // svc expects no result from an apply that was not started, that another agent later started instead, or whose agent was
    // revoked.
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

tests.live(
  "after a shorter retention period, even the newest speculative plan is removed, with its log and revision plan",
  () =>
    Effect.gen(function* () {
      yield* emptyWorld
      const removal = yield* RecordRemoval
      const weeksAgo = (weeks: number) => new Date(Date.now() - weeks * 7 * 86_400_000).toISOString()
      const speculative = { type: "plan", purpose: "speculative", requires_approval: 0 }
      const times = (at: string) => ({ created_at: at, queued_at: at, started_at: at, finished_at: at })
      const goes = yield* run("goes", { ...speculative, ...times(weeksAgo(5)) })
      const stays = yield* run("stays", { ...speculative, ...times(weeksAgo(3)) })
      const reviewed = yield* run("reviewed", { type: "plan", ...times(weeksAgo(6)) })
      yield* add("run_log_chunks", { run_id: goes })
      yield* add("revision_plans", {
        id: named("rpl", "of"),
        plan_run_id: goes,
        speculative: 1,
        updated_at: weeksAgo(5)
      })
      yield* removal.removeAll
      expect(yield* idsOf("runs")).toEqual([stays, reviewed].toSorted())
      expect(yield* idsOf("revision_plans")).toEqual([])
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT run_id FROM run_log_chunks`).toEqual([])
      expect(yield* dangling).toEqual([])
    })
)

tests.live("each row that refers to a Run is removed with the Run, or prevents the removal", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const referring = (yield* tablesReferringTo(sql, "runs")).filter((name) => name !== "runs")
    const kind = retainedKinds.find(({ name }) => name === "runs")
    const known = (name: string) =>
      kind?.parts.some(({ table }) => table === name) === true ||
      kind?.needs.some(({ when }) => when.includes(`${name} `))
    expect(referring.length).toBeGreaterThan(5)
    expect(referring.filter((name) => !known(name))).toEqual([])
  })
)

tests.live("a StateVersion is kept while it is current, a rollback target, or referenced", () =>
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

tests.live(
  "a snapshot and its report are kept while a Capsule, an open plan, a rollback target or a lane needs them",
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

tests.live("records of plans, decisions and backups are kept while they are open, newest or referenced", () =>
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
