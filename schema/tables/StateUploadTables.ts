/**
 * States of existing infrastructure, uploaded for an install to take over. `state` is sealed, and erased in the transaction that
 * creates the StateVersion; the rest of the row remains as evidence. An unused upload is deleted. `install_plan_id` is the
 * install that has reserved it.
 */
export const stateUploadTables: ReadonlyArray<string> = [
  `CREATE TABLE state_uploads (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    lineage TEXT NOT NULL,
    serial INTEGER NOT NULL,
    resource_count INTEGER NOT NULL,
    tool_version TEXT,
    state TEXT,
    install_plan_id TEXT,
    created_by TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at TEXT
  )`,
  `CREATE INDEX state_uploads_by_workspace ON state_uploads (workspace_id, created_at, id)`,
  `CREATE INDEX state_uploads_open ON state_uploads (expires_at) WHERE used_at IS NULL`,
  `ALTER TABLE install_plans ADD COLUMN state_upload_id TEXT`,
  `ALTER TABLE install_plans ADD COLUMN state_sha256 TEXT`,
  `ALTER TABLE state_versions ADD COLUMN state_upload_id TEXT`,
  `CREATE INDEX state_versions_by_lineage ON state_versions (lineage)`
]
