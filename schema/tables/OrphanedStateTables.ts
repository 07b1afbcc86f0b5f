/**
 * Sealed states that an apply left behind and that were not accepted when the apply was settled. `state` and
 * `sealed_secrets` are erased when the state is discarded or adopted; adopting moves them to the StateVersion. All other
 * columns remain as evidence. `state_version_id`, `state_generation` and `execution_authority_epoch` are the Capsule's
 * values after the settlement.
 */
export const orphanedStateTables: ReadonlyArray<string> = [
  `CREATE TABLE left_over_states (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    run_id TEXT NOT NULL REFERENCES runs (id),
    reason TEXT NOT NULL,
    digest TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    lineage TEXT,
    serial INTEGER,
    resource_count INTEGER,
    state TEXT,
    sealed_secrets TEXT,
    build_digest TEXT,
    build_size_bytes INTEGER,
    state_version_id TEXT,
    state_generation INTEGER NOT NULL,
    execution_authority_epoch INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    adopted_at TEXT,
    adopted_by TEXT,
    discarded_at TEXT,
    discarded_by TEXT
  )`,
  `CREATE INDEX left_over_states_by_capsule ON left_over_states (capsule_id, created_at, id)`,
  `CREATE INDEX left_over_states_by_workspace ON left_over_states (workspace_id, created_at, id)`,
  `ALTER TABLE state_versions ADD COLUMN left_over_state_id TEXT`
]
