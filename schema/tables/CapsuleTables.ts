/** Capsules, their immutable configurations, and the results of their applies. */
export const capsuleTables: ReadonlyArray<string> = [
  // Rows are never updated; a change inserts a successor. `private_variables` is sealed under the identity of its row.
  `CREATE TABLE install_configs (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT,
    origin TEXT NOT NULL,
    module_path TEXT NOT NULL,
    source_snapshot_id TEXT,
    compatibility_report_id TEXT,
    contract_digest TEXT NOT NULL,
    digest TEXT NOT NULL,
    config TEXT NOT NULL,
    private_variables TEXT,
    predecessor_id TEXT,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX install_configs_by_workspace ON install_configs (workspace_id, created_at, id)`,
  // A Capsule's authority. Every write that depends on this authority compares the id, status, epoch, configuration, state
  // version and generation.
  `CREATE TABLE capsules (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    project_id TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    environment TEXT NOT NULL,
    source_id TEXT NOT NULL REFERENCES sources (id),
    module_path TEXT NOT NULL,
    install_config_id TEXT NOT NULL REFERENCES install_configs (id),
    status TEXT NOT NULL,
    runtime_safety TEXT NOT NULL,
    current_state_version_id TEXT,
    current_state_generation INTEGER NOT NULL,
    execution_authority_epoch INTEGER NOT NULL,
    tracked_ref TEXT NOT NULL,
    tracked_path TEXT NOT NULL,
    adopted_snapshot_id TEXT,
    adopted_ref TEXT,
    adopted_path TEXT,
    adopted_commit TEXT,
    tool_name TEXT,
    provider_lock TEXT,
    auto_update_enabled INTEGER NOT NULL,
    auto_update_apply INTEGER NOT NULL,
    drift_status TEXT NOT NULL,
    drift_checked_at TEXT,
    public_endpoint TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  // Lets a new Capsule use the name of a destroyed Capsule.
  `CREATE UNIQUE INDEX capsules_by_name ON capsules (project_id, name, environment) WHERE status <> 'destroyed'`,
  `CREATE INDEX capsules_by_workspace ON capsules (workspace_id, created_at, id)`,
  `CREATE INDEX capsules_by_source ON capsules (source_id)`,
  // One immutable set of bindings per configuration.
  `CREATE TABLE provider_bindings (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    install_config_id TEXT NOT NULL REFERENCES install_configs (id),
    provider TEXT NOT NULL,
    module_local_name TEXT NOT NULL,
    child_alias TEXT,
    connection_id TEXT NOT NULL REFERENCES connections (id)
  )`,
  `CREATE INDEX provider_bindings_by_config ON provider_bindings (install_config_id, id)`,
  `CREATE INDEX provider_bindings_by_connection ON provider_bindings (connection_id)`,
  `CREATE TABLE state_versions (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    generation INTEGER NOT NULL,
    serial INTEGER NOT NULL,
    lineage TEXT NOT NULL,
    digest TEXT NOT NULL,
    resource_count INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    state TEXT NOT NULL,
    partial INTEGER NOT NULL,
    source_snapshot_id TEXT,
    install_config_id TEXT NOT NULL,
    created_by_run_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (capsule_id, generation)
  )`,
  `CREATE INDEX state_versions_by_workspace ON state_versions (workspace_id, created_at, id)`,
  // Public values are in `value`. Sensitive values are stored only in sealed form.
  `CREATE TABLE outputs (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    state_version_id TEXT NOT NULL REFERENCES state_versions (id),
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    value TEXT,
    sealed_value TEXT,
    sensitive INTEGER NOT NULL,
    UNIQUE (state_version_id, name)
  )`,
  `CREATE TABLE dependencies (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    producer_capsule_id TEXT NOT NULL REFERENCES capsules (id),
    consumer_capsule_id TEXT NOT NULL REFERENCES capsules (id),
    mode TEXT NOT NULL,
    outputs TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX dependencies_by_consumer ON dependencies (consumer_capsule_id, created_at, id)`,
  `CREATE INDEX dependencies_by_producer ON dependencies (producer_capsule_id, created_at, id)`,
  `CREATE TABLE backups (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT,
    digest TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    archive TEXT NOT NULL,
    created_by_run_id TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX backups_by_workspace ON backups (workspace_id, created_at, id)`
]

/** The sealed secret inputs that an apply used, and that its state may still contain. */
export const stateSecretColumns: ReadonlyArray<string> = [`ALTER TABLE state_versions ADD COLUMN sealed_secrets TEXT`]

/**
 * Condition of the index on Capsules that need attention, which are few. Only a query with exactly this condition uses the index.
 */
export const capsulesNeedingAttention = `status <> 'destroyed' AND (status IN ('error', 'stale') OR runtime_safety = 'unknown' OR drift_status = 'drifted')`

export const capsulesNeedingAttentionIndex: ReadonlyArray<string> = [
  `CREATE INDEX capsules_in_need ON capsules (workspace_id, updated_at, id) WHERE ${capsulesNeedingAttention}`
]

export const pathFilterColumns: ReadonlyArray<string> = [
  `ALTER TABLE capsules ADD COLUMN path_filter INTEGER NOT NULL DEFAULT 0`
]

/** The snapshot that a Capsule could not follow because the queue of its Workspace was full. */
export const deferredFollowColumns: ReadonlyArray<string> = [
  `ALTER TABLE capsules ADD COLUMN deferred_snapshot_id TEXT`,
  `CREATE INDEX capsules_deferred ON capsules (updated_at, id) WHERE deferred_snapshot_id IS NOT NULL`
]

/** SQL condition for Capsules that have not ended (`isEnded`). `alias` is a table alias such as `c.`. */
export const livingCapsule = (alias: "" | `${string}.` = "") => `${alias}status NOT IN ('destroyed', 'released')`

/** `isInService` as an SQL condition. */
export const capsuleInService = (alias: "" | `${string}.` = "") =>
  `${alias}status NOT IN ('destroyed', 'released', 'disabled')`

/** Who released a Capsule, when and why. */
export const capsuleReleaseColumns: ReadonlyArray<string> = [
  `ALTER TABLE capsules ADD COLUMN released_at TEXT`,
  `ALTER TABLE capsules ADD COLUMN released_by TEXT`,
  `ALTER TABLE capsules ADD COLUMN release_reason TEXT`,
  `ALTER TABLE capsules ADD COLUMN release_comment TEXT`,
  `DROP INDEX capsules_by_name`,
  `CREATE UNIQUE INDEX capsules_by_name ON capsules (project_id, name, environment)
    WHERE status NOT IN ('destroyed', 'released')`
]

/** The credential that a Capsule is waiting for, as JSON. `NULL` for most Capsules. */
export const credentialWaitColumns: ReadonlyArray<string> = [
  `ALTER TABLE capsules ADD COLUMN credential_wait TEXT`,
  `CREATE INDEX capsules_without_credential ON capsules (workspace_id, id) WHERE credential_wait IS NOT NULL`
]

/**
 * SQL condition for Capsules whose evidence must be kept. A released Capsule manages nothing, like a destroyed one, but its state
 * may be the last copy.
 */
export const capsuleWithEvidence = (alias: "" | `${string}.` = "") => `${alias}status <> 'destroyed'`
