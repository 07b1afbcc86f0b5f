/**
 * Hours between automatic drift checks; 0 means never. On a Capsule, `NULL` means that the Workspace's setting applies; on a
 * Workspace, it means never. `drift_check_by` is the person whose authority the checks use for Connections.
 */
export const driftCheckColumns: ReadonlyArray<string> = [
  `ALTER TABLE workspaces ADD COLUMN drift_check_hours INTEGER`,
  `ALTER TABLE workspaces ADD COLUMN drift_check_by TEXT`,
  `ALTER TABLE capsules ADD COLUMN drift_check_hours INTEGER`,
  `ALTER TABLE capsules ADD COLUMN drift_check_by TEXT`,
  `ALTER TABLE capsules ADD COLUMN drift_check_due_at TEXT`,
  `CREATE INDEX capsules_drift_due ON capsules (drift_check_due_at) WHERE drift_check_due_at IS NOT NULL`
]

/** SQL expression for the hours that apply to a Capsule `c` of a Workspace `w`. */
export const effectiveDriftHours = `COALESCE(c.drift_check_hours, w.drift_check_hours, 0)`
