import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { add, ended, living, longAgo, named, of, receipt, run, snapshot, state, workspaceId } from "./RetainedWorld.ts"
import { young, pending } from "./Removal.ts"

export const started = { type: "apply", status: "failed", start_acknowledged_at: longAgo() }
/** The row of an agent that accepted an apply and has been silent since then. */
export const givenUp = { kind: "apply", accepted_at: longAgo(), ended_at: longAgo(), result: null }

/** Creates a Run for each kind of record that may refer to a Run, and a Run for each other reason to keep a Run. */
export const runs = Effect.gen(function* () {
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

export const states = Effect.gen(function* () {
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
  // The current state of the destroyed Capsule is also removed.
  return { goes: [named("sv", "l1"), named("sv", "e4"), named("sv", "e5")] }
}).pipe(Effect.orDie)

export const snapshots = Effect.gen(function* () {
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
