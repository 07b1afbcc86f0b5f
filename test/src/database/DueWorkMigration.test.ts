import { expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { databaseName } from "../../../src/database/DataFolder.ts"
import { migrate } from "../../../src/database/Migrations.ts"
import { controlPlane, testSettings } from "../../support/ControlPlane.ts"
import { it } from "../../support/Effect.ts"
import { marks, nothingDue } from "../../support/NothingDue.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { at, beforeMigration, beforeMigrationIn, run } from "./support/EarlierRelease.ts"

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

const ids = {
  workspace_id: "ws_aaaaaaaaaaaaaaaa",
  project_id: "prj_aaaaaaaaaaaaaaaa",
  source_id: "src_aaaaaaaaaaaaaaaa",
  install_config_id: "icfg_aaaaaaaaaaaaaaaa"
}
const followed = { id: "snap_aaaaaaaaaaaaaaaa", resolved_commit: "a".repeat(40) }
const planned = { id: "snap_bbbbbbbbbbbbbbbb", resolved_commit: "b".repeat(40) }
const follower = "cap_aaaaaaaaaaaaaaaa"
const unread = "src_bbbbbbbbbbbbbbbb"
const planRun = "run_aaaaaaaaaaaaaaaa"
const failedSync = "run_bbbbbbbbbbbbbbbb"

/**
 * Stores messages about a new commit for a Capsule, a plan that waits for a review, and a Source that no sync has read, together
 * with these records.
 */
const underWay = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { workspace_id } = ids
  const insert = (table: string, row: Readonly<Record<string, string | number | null>>) =>
    sql`INSERT INTO ${sql(table)} ${sql.insert(row)}`
  yield* insert("workspaces", {
    id: workspace_id,
    handle: "b",
    display_name: "b",
    type: "organization",
    created_at: at,
    updated_at: at
  })
  yield* insert("projects", {
    id: ids.project_id,
    workspace_id,
    name: "a",
    slug: "a",
    is_default: 1,
    created_at: at,
    updated_at: at
  })
  yield* insert("sources", { ...source, id: ids.source_id, workspace_id, name: "a", last_synced_at: at })
  yield* insert("sources", { ...source, id: unread, workspace_id, name: "b", last_synced_at: null })
  for (const snapshot of [followed, planned]) {
    yield* insert("source_snapshots", {
      ...snapshot,
      workspace_id,
      source_id: ids.source_id,
      url: source.url,
      ref: "main",
      path: ".",
      archive_digest: `sha256:${"0".repeat(64)}`,
      archive_size_bytes: 1,
      file_count: 1,
      omitted: "[]",
      repository_manifest: "absent",
      warnings: "[]",
      created_by_run_id: failedSync,
      created_at: at
    })
  }
  yield* insert("install_configs", {
    id: ids.install_config_id,
    workspace_id,
    capsule_id: follower,
    origin: "user",
    module_path: ".",
    contract_digest: "",
    digest: "",
    config: "{}",
    created_at: at
  })
  yield* insert("capsules", {
    ...capsule,
    ...ids,
    id: follower,
    name: "a",
    adopted_ref: "main",
    adopted_path: ".",
    adopted_commit: planned.resolved_commit,
    stale_reasons: JSON.stringify([{ kind: "commit", sourceSnapshotId: followed.id }])
  })
  yield* insert("source_lanes", {
    source_id: ids.source_id,
    ref: "main",
    path: ".",
    source_snapshot_id: followed.id,
    resolved_commit: followed.resolved_commit
  })
  const system = { ...run, workspace_id }
  yield* insert("runs", {
    ...system,
    id: planRun,
    status: "waiting_approval",
    trigger_kind: "auto_update",
    capsule_id: follower,
    source_snapshot_id: planned.id,
    resolved_commit: planned.resolved_commit
  })
  yield* insert("runs", { ...system, id: failedSync, type: "source_sync", status: "failed", source_id: unread })
  const message = yield* stored
  yield* message("Capsule", follower, "FollowLane", { sourceSnapshotId: followed.id, cause: failedSync, look: "user" })
  yield* message("Capsule", follower, "ApplyFollowed", { planRunId: planRun })
  yield* message("Source", unread, "Unread", { runId: failedSync })
})

it.live("a server that starts on an earlier release's database does the work of the unprocessed messages", () =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    yield* beforeMigrationIn(`${dataDir}/${databaseName}`, 64, underWay)
    yield* Effect.gen(function* () {
      yield* nothingDue
      const sql = yield* SqlClient.SqlClient
      const decisions = yield* sql`SELECT d.source_snapshot_id, d.reason, r.type, r.trigger_kind
        FROM auto_update_decisions d JOIN runs r ON r.id = d.run_id ORDER BY d.source_snapshot_id`
      const plan = { type: "plan", trigger_kind: "auto_update" }
      expect(decisions.map((row) => ({ ...row }))).toEqual([
        { source_snapshot_id: followed.id, reason: "planned", ...plan },
        { source_snapshot_id: planned.id, reason: "review", ...plan }
      ])
      const removed = yield* sql`SELECT id, status FROM sources WHERE removed_at IS NOT NULL`
      expect(removed.map((row) => ({ ...row }))).toEqual([{ id: unread, status: "disabled" }])
      expect(yield* sql`SELECT kind FROM stuck_work`).toEqual([])
    }).pipe(Effect.provide(controlPlane(yield* testSettings({ dataDir }))))
  }).pipe(Effect.provide(NodeServices.layer))
)
