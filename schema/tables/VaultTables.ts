/** Data keys, each wrapped by a master key. Sealed values are stored in the records that own them. */
export const vaultTables: ReadonlyArray<string> = [
  `CREATE TABLE vault_data_keys (
    id TEXT PRIMARY KEY NOT NULL,
    record_kind TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    master_key_id TEXT NOT NULL,
    wrapped_key TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    wrapped_at TEXT NOT NULL
  )`,
  // Only the active key of a record kind and Workspace seals new values; retired keys only decrypt existing ones.
  `CREATE UNIQUE INDEX vault_data_keys_active ON vault_data_keys (record_kind, workspace_id) WHERE status = 'active'`,
  `CREATE INDEX vault_data_keys_by_master ON vault_data_keys (master_key_id)`
]

/**
 * Columns whose sealed value may be too long for one row: the table, the column and the row's key. Each part of a value
 * stores the row's key as `owner`, so that deleting one row does not remove another row's parts.
 */
export const longValues = [
  { table: "state_versions", column: "state", key: "id" },
  { table: "left_over_states", column: "state", key: "id" },
  { table: "state_uploads", column: "state", key: "id" },
  { table: "run_plans", column: "plan_file", key: "run_id" },
  { table: "run_checkpoints", column: "state", key: "run_id" }
] as const

const withoutParts = ({ column, key, table }: (typeof longValues)[number]): ReadonlyArray<string> => {
  const gone = `DELETE FROM sealed_parts WHERE value = OLD.${column} AND owner = OLD.${key}`
  return [
    `CREATE TRIGGER ${table}_parts_deleted AFTER DELETE ON ${table} BEGIN ${gone}; END`,
    `CREATE TRIGGER ${table}_parts_replaced AFTER UPDATE OF ${column} ON ${table}
  WHEN OLD.${column} IS NOT NEW.${column} BEGIN ${gone}; END`
  ]
}

/**
 * The parts of a long value, each sealed separately. The column of the record contains `value` instead of the value itself.
 * Only one part at a time is read or written.
 */
export const sealedPartTables: ReadonlyArray<string> = [
  `CREATE TABLE sealed_parts (
    value TEXT NOT NULL,
    part INTEGER NOT NULL,
    owner TEXT NOT NULL,
    nonce TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (value, part)
  )`,
  ...longValues.flatMap(withoutParts)
]
