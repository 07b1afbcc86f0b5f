/** Credential holders. `sealed_values` holds every value and file; it is emptied when the Connection is revoked. */
export const connectionTables: ReadonlyArray<string> = [
  `CREATE TABLE connections (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT REFERENCES workspaces (id),
    scope TEXT NOT NULL,
    provider TEXT NOT NULL,
    kind TEXT NOT NULL,
    recipe_id TEXT NOT NULL,
    auth_mode TEXT NOT NULL,
    display_name TEXT NOT NULL,
    status TEXT NOT NULL,
    env_names TEXT NOT NULL,
    file_names TEXT NOT NULL,
    sealed_values TEXT,
    provider_config TEXT NOT NULL,
    module_input_defaults TEXT NOT NULL,
    last_used_at TEXT,
    verified_at TEXT,
    expires_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE INDEX connections_by_workspace ON connections (workspace_id, created_at, id)`,
  `CREATE TABLE output_shares (
    id TEXT PRIMARY KEY NOT NULL,
    from_workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    to_workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    producer_capsule_id TEXT NOT NULL,
    outputs TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    approved_at TEXT,
    revoked_at TEXT
  )`,
  `CREATE INDEX output_shares_from ON output_shares (from_workspace_id, created_at, id)`,
  `CREATE INDEX output_shares_to ON output_shares (to_workspace_id, created_at, id)`
]
