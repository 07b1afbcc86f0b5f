import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { representativeRows } from "../../../../src/database/support/RepresentativeRows.ts"

type Values = Readonly<Record<string, string | number | null>>

export const of = (prefix: string, letter: string) => `${prefix}_${letter.repeat(24)}`
/** Returns a well-formed id that contains the name. */
export const named = (prefix: string, name: string) => `${prefix}_${name.padStart(20, "0")}`
/** Returns a time so early that every retention period has elapsed. A greater number gives a later time. */
export const longAgo = (day = 1) => `2020-01-${String(day).padStart(2, "0")}T00:00:00.000Z`

export const workspaceId = of("ws", "a")
export const living = of("cap", "b")
export const ended = of("cap", "z")

const base = [
  "users",
  "workspaces",
  "projects",
  "connections",
  "sources",
  "install_configs",
  "capsules",
  "agent_pools",
  "agent_enrolment_tokens",
  "agents"
]

/** Inserts a copy of the table's representative row with these changes. */
export const add = Effect.fnUntraced(function* (table: string, values: Values) {
  const sql = yield* SqlClient.SqlClient
  const [, like] = representativeRows.find(([name]) => name === table) ?? [table, {}]
  yield* sql`INSERT INTO ${sql(table)} ${sql.insert({ ...like, ...values })}`
}, Effect.orDie)

const emptied = [
  "retention_tallies",
  "audit_events",
  "idempotency_receipts",
  "consumed_inputs",
  "interface_intents",
  "left_over_states",
  "connection_holds",
  "setup_tickets",
  "oidc_plan_pins",
  "run_approvals",
  "run_preparations",
  "agent_evidence",
  "agent_carried_files",
  "agent_runs",
  "run_deliveries",
  "run_results",
  "run_checkpoints",
  "run_log_chunks",
  "run_events",
  "run_plans",
  "run_group_members",
  "run_groups",
  "runs",
  "auto_update_decisions",
  "install_plans",
  "revision_plans",
  "backups",
  "outputs",
  "state_indexes",
  "resource_versions",
  "output_versions",
  "state_versions",
  "compatibility_reports",
  "source_lanes",
  "source_snapshots"
]

/** Creates a Capsule that exists and a Capsule that has ended, both of the same Source, with no other removable records. */
export const emptyWorld = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [table, values] of representativeRows) {
    if (base.includes(table)) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
  }
  for (const table of emptied) yield* sql`DELETE FROM ${sql(table)}`
  yield* sql`DELETE FROM capsules WHERE id = ${ended}`
  yield* sql`UPDATE capsules SET current_state_version_id = NULL, adopted_snapshot_id = NULL, pinned_run_id = NULL`
  yield* add("capsules", { id: ended, name: "gone", slug: "gone", status: "destroyed" })
}).pipe(Effect.orDie)

/** Creates a finished drift check of the existing Capsule, older than the retention period for Runs. */
export const run = Effect.fnUntraced(function* (name: string, values: Values = {}) {
  const id = named("run", name)
  const times = { created_at: longAgo(), queued_at: longAgo(), started_at: longAgo(), finished_at: longAgo() }
  yield* add("runs", {
    id,
    type: "drift_check",
    status: "succeeded",
    capsule_id: living,
    plan_run_id: null,
    ...times,
    ...values
  })
  return id
})

export const snapshot = Effect.fnUntraced(function* (name: string, values: Values = {}) {
  const id = named("snap", name)
  yield* add("source_snapshots", {
    id,
    archive_digest: name,
    archive_size_bytes: 1000,
    created_by_run_id: named("run", "none"),
    created_at: longAgo(),
    ...values
  })
  return id
})

export const state = Effect.fnUntraced(function* (capsuleId: string, generation: number, values: Values = {}) {
  const id = named("sv", `${capsuleId === living ? "l" : "e"}${generation}`)
  yield* add("state_versions", {
    id,
    capsule_id: capsuleId,
    generation,
    created_by_run_id: named("run", "none"),
    created_at: longAgo(generation),
    ...values
  })
  return id
})

export const receipt = (id: string) =>
  add("idempotency_receipts", { idempotency_key: id, result_id: id, created_at: new Date().toISOString() })
