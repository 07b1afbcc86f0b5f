/**
 * The output of a reviewed source build. The output belongs to the plan that used it, and to the state that the plan's apply
 * created.
 */
export const buildTables: ReadonlyArray<string> = [
  `ALTER TABLE run_plans ADD COLUMN build_digest TEXT`,
  `ALTER TABLE run_plans ADD COLUMN build_size_bytes INTEGER`,
  `ALTER TABLE state_versions ADD COLUMN build_digest TEXT`,
  `ALTER TABLE state_versions ADD COLUMN build_size_bytes INTEGER`
]
