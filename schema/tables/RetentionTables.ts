const index = (table: string, name: string, columns: string, where?: string) =>
  `CREATE INDEX ${table}_${name} ON ${table} (${columns})${where === undefined ? "" : ` WHERE ${where}`}`

const ended = "finished_at IS NOT NULL"

/**
 * The counts of a retention pass, kept until its audit events are written, and indexes for finding old records and references to
 * them.
 */
export const retentionTables: ReadonlyArray<string> = [
  `CREATE TABLE retention_tallies (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    kind TEXT NOT NULL,
    records INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, kind)
  )`,
  index("runs", "ended", "finished_at, id", ended),
  index("runs", "ended_of_capsule", "capsule_id, type, status, finished_at, id", `${ended} AND capsule_id IS NOT NULL`),
  index("runs", "ended_of_source", "source_id, type, status, finished_at, id", `${ended} AND capsule_id IS NULL`),
  index("runs", "by_snapshot", "source_snapshot_id", "source_snapshot_id IS NOT NULL"),
  index("runs", "by_base_state", "base_state_version_id", "base_state_version_id IS NOT NULL"),
  index("run_groups", "ended", "finished_at, id", ended),
  index("state_versions", "by_age", "created_at, id"),
  index("state_versions", "by_run", "created_by_run_id"),
  index("state_versions", "by_snapshot", "source_snapshot_id", "source_snapshot_id IS NOT NULL"),
  index("source_snapshots", "by_age", "created_at, id"),
  index("source_snapshots", "by_run", "created_by_run_id"),
  index("compatibility_reports", "by_age", "created_at, id"),
  index("compatibility_reports", "by_run", "created_by_run_id"),
  index("auto_update_decisions", "by_age", "updated_at, id"),
  index("auto_update_decisions", "by_snapshot", "source_snapshot_id"),
  index("auto_update_decisions", "by_run", "run_id", "run_id IS NOT NULL"),
  index("install_plans", "by_age", "updated_at, id"),
  index("install_plans", "by_snapshot", "source_snapshot_id", "source_snapshot_id IS NOT NULL"),
  index("revision_plans", "by_age", "updated_at, id"),
  index("revision_plans", "by_snapshot", "source_snapshot_id", "source_snapshot_id IS NOT NULL"),
  index("backups", "by_age", "created_at, id"),
  index("consumed_inputs", "by_state_version", "state_version_id"),
  index("left_over_states", "by_run", "run_id"),
  index("setup_tickets", "by_run", "run_id"),
  index("interface_intents", "by_run", "run_id"),
  index("idempotency_receipts", "by_result", "result_id")
]
