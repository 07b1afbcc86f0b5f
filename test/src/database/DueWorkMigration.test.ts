import { expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { migrate } from "../../../src/database/Migrations.ts"
import { it } from "../../support/Effect.ts"
import { marks } from "../../support/NothingDue.ts"
import { at, beforeMigration, run } from "./support/EarlierRelease.ts"

const plan = {
  workspace_id: "ws_a",
  actor: "{}",
  diagnostics: "[]",
  created_at: at,
  updated_at: at
}

const capsule = {
  workspace_id: "ws_a",
  project_id: "prj_a",
  slug: "a",
  environment: "production",
  source_id: "src_a",
  module_path: ".",
  install_config_id: "cfg_a",
  status: "stale",
  runtime_safety: "safe",
  current_state_generation: 1,
  execution_authority_epoch: 1,
  tracked_ref: "main",
  tracked_path: ".",
  auto_update_enabled: 1,
  auto_update_apply: 1,
  drift_status: "none",
  created_at: at,
  updated_at: at
}

const source = {
  workspace_id: "ws_a",
  url: "https://git.example/a",
  default_ref: "main",
  default_path: ".",
  auto_sync: 1,
  status: "active",
  hook_secret: "sealed",
  created_at: at,
  updated_at: at
}

/** Stores messages in the tables and format of the library that earlier releases used. */
const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS cluster_messages (id INTEGER PRIMARY KEY, message_id TEXT UNIQUE, shard_id TEXT NOT NULL,
    entity_type TEXT NOT NULL, entity_id TEXT NOT NULL, kind INTEGER NOT NULL, tag TEXT, payload TEXT, headers TEXT,
    trace_id TEXT, span_id TEXT, sampled BOOLEAN, processed BOOLEAN NOT NULL DEFAULT FALSE, request_id INTEGER NOT NULL,
    reply_id INTEGER, last_reply_id INTEGER, last_read TEXT, deliver_at INTEGER)`
  yield* sql`CREATE TABLE cluster_replies (id INTEGER PRIMARY KEY, kind INTEGER, request_id INTEGER NOT NULL, payload TEXT NOT NULL)`
  yield* sql`CREATE TABLE cluster_migrations (migration_id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL)`
  let id = 0
  return Effect.fnUntraced(function* (
    entity_type: string,
    entity_id: string,
    tag: string,
    payload: Readonly<Record<string, unknown>>,
    processed = 0
  ) {
    id += 1
    const message = { id, request_id: id, message_id: `m${id}`, shard_id: "default:1", kind: 0, headers: "{}" }
    const row = { ...message, entity_type, entity_id, tag, payload: JSON.stringify(payload), processed }
    yield* sql`INSERT INTO cluster_messages ${sql.insert(row)}`
  })
})

it.live(
  "the migration converts unprocessed messages of earlier releases into due marks, and drops the message tables",
  () =>
    beforeMigration(
      64,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`PRAGMA foreign_keys = OFF`
        const message = yield* stored
        for (const id of ["cap_a", "cap_b"])
          yield* sql`INSERT INTO capsules ${sql.insert({ ...capsule, id, name: id })}`
        for (const id of ["src_a", "src_b"]) yield* sql`INSERT INTO sources ${sql.insert({ ...source, id, name: id })}`
        const runs = [
          { id: "run_ended", type: "source_sync", coordinator_kind: "install_plan", coordinator_id: "ipl_a" },
          { id: "run_open", status: "running", coordinator_kind: "install_plan", coordinator_id: "ipl_b" },
          { id: "run_old", type: "plan", coordinator_kind: "revision_plan", coordinator_id: "rpl_done" },
          {
            id: "run_checked",
            type: "compatibility_check",
            coordinator_kind: "revision_plan",
            coordinator_id: "rpl_a"
          },
          { id: "run_plan", status: "waiting_approval", trigger_kind: "auto_update", capsule_id: "cap_a" },
          { id: "run_followed", status: "waiting_approval", trigger_kind: "auto_update", capsule_id: "cap_b" }
        ]
        for (const row of runs) yield* sql`INSERT INTO runs ${sql.insert({ ...run, ...row })}`
        const installs = [
          { id: "ipl_a", phase: "syncing_source", sync_run_id: "run_ended" },
          { id: "ipl_b", phase: "syncing_source", sync_run_id: "run_open" },
          { id: "ipl_c", phase: "syncing_source", sync_run_id: null }
        ]
        for (const row of installs)
          yield* sql`INSERT INTO install_plans ${sql.insert({ ...plan, request: "{}", ...row })}`
        const revisions = [
          {
            id: "rpl_a",
            phase: "analyzing_compatibility",
            sync_run_id: "run_gone",
            check_run_id: "run_checked",
            plan_run_id: null
          },
          {
            id: "rpl_done",
            phase: "reviewable",
            sync_run_id: "run_gone",
            check_run_id: "run_gone",
            plan_run_id: "run_old"
          }
        ]
        for (const row of revisions) {
          const revision = { ...plan, capsule_id: "cap_a", ref: "v1", execution_authority_epoch: 1, ...row }
          yield* sql`INSERT INTO revision_plans ${sql.insert(revision)}`
        }
        yield* message("Capsule", "cap_a", "FollowLane", { sourceSnapshotId: "snap_1", cause: "run_1", look: "user" })
        yield* message("Capsule", "cap_a", "FollowLane", {
          sourceSnapshotId: "snap_2",
          cause: "run_2",
          look: "webhook"
        })
        yield* message(
          "Capsule",
          "cap_a",
          "FollowLane",
          { sourceSnapshotId: "snap_3", cause: "run_3", look: "user" },
          1
        )
        yield* message("Capsule", "cap_b", "FollowLane", { sourceSnapshotId: "snap_2" })
        yield* message("Capsule", "cap_a", "ApplyFollowed", { planRunId: "run_plan" })
        yield* message("Capsule", "cap_b", "ApplyFollowed", { planRunId: "run_followed" }, 1)
        yield* message("Source", "src_a", "Unread", { runId: "run_ended" })
        yield* message("Source", "src_b", "Unread", { runId: "run_old" }, 1)
        yield* message("InstallPlan", "ipl_a", "Advance", { cause: "run_ended ended attempt 1" })
        yield* message("InstallPlan", "ipl_c", "Advance", { cause: "created" })

        yield* migrate

        expect((yield* sql`${sql.literal(marks)} ORDER BY 1`).map(({ mark }) => mark)).toEqual([
          "capsule cap_a",
          "capsule cap_b",
          "install ipl_c",
          "run run_checked",
          "run run_ended",
          "run run_plan",
          "source src_a"
        ])
        expect(
          (yield* sql`SELECT id, follow_snapshot_id, follow_look FROM capsules ORDER BY id`).map((row) => ({ ...row }))
        ).toEqual([
          { id: "cap_a", follow_snapshot_id: "snap_2", follow_look: "webhook" },
          { id: "cap_b", follow_snapshot_id: "snap_2", follow_look: null }
        ])
        const [unread] = yield* sql`SELECT unread_due FROM sources WHERE id = 'src_a'`
        expect(unread?.["unread_due"]).toBe("run_ended")
        expect(yield* sql`SELECT name FROM sqlite_schema WHERE name LIKE 'cluster%'`).toEqual([])
      })
    )
)
