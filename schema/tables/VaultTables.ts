/** Data keys, each wrapped by a master key; the sealed values are in the records that own them. */
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
  // One key per record kind and Workspace seals; retired ones only open.
  `CREATE UNIQUE INDEX vault_data_keys_active ON vault_data_keys (record_kind, workspace_id) WHERE status = 'active'`,
  `CREATE INDEX vault_data_keys_by_master ON vault_data_keys (master_key_id)`
]
