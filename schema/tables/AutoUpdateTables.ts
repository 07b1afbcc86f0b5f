/** The rollback pin of a Capsule, and auto-update's decision about each snapshot. */
export const autoUpdateTables: ReadonlyArray<string> = [
  `ALTER TABLE capsules ADD COLUMN pinned_run_id TEXT`,
  `ALTER TABLE capsules ADD COLUMN pinned_by TEXT`,
  `ALTER TABLE capsules ADD COLUMN pinned_at TEXT`,
  `ALTER TABLE capsules ADD COLUMN pinned_reason TEXT`,
  // The lane's commit at the time of the rollback. Any other commit counts as newer.
  `ALTER TABLE capsules ADD COLUMN pinned_commit TEXT`,
  `ALTER TABLE capsules ADD COLUMN pin_ends_on_commit INTEGER NOT NULL DEFAULT 0`,
  // One row per Capsule and snapshot: the last decision, and the authority that it was based on.
  `CREATE TABLE auto_update_decisions (
    id TEXT PRIMARY KEY NOT NULL,
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    source_snapshot_id TEXT NOT NULL REFERENCES source_snapshots (id),
    resolved_commit TEXT NOT NULL,
    decision TEXT NOT NULL,
    reason TEXT NOT NULL,
    message TEXT NOT NULL,
    run_id TEXT,
    execution_authority_epoch INTEGER NOT NULL,
    state_generation INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (capsule_id, source_snapshot_id)
  )`,
  `CREATE INDEX auto_update_decisions_by_capsule ON auto_update_decisions (capsule_id, created_at, id)`
]
