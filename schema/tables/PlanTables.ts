/** SQL condition for coordinators that have no plan for review yet. */
export const coordinatorUnderWay = "phase NOT IN ('reviewable', 'failed')"

/** The coordinators that create a plan for review from a Source. */
export const planTables: ReadonlyArray<string> = [
  // `private_variables` is sealed, and emptied in the transaction of the initial commit.
  `CREATE TABLE install_plans (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    phase TEXT NOT NULL,
    request TEXT NOT NULL,
    private_variables TEXT,
    actor TEXT NOT NULL,
    source_id TEXT,
    sync_run_id TEXT,
    check_run_id TEXT,
    source_snapshot_id TEXT,
    compatibility_report_id TEXT,
    install_config_id TEXT,
    capsule_id TEXT,
    plan_run_id TEXT,
    diagnostics TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE INDEX install_plans_open ON install_plans (phase)`,
  `CREATE TABLE revision_plans (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    ref TEXT NOT NULL,
    phase TEXT NOT NULL,
    actor TEXT NOT NULL,
    execution_authority_epoch INTEGER NOT NULL,
    sync_run_id TEXT,
    check_run_id TEXT,
    source_snapshot_id TEXT,
    compatibility_report_id TEXT,
    plan_run_id TEXT,
    diagnostics TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE INDEX revision_plans_by_capsule ON revision_plans (capsule_id, phase)`
]
