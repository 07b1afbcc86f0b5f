/** The time, person and reason of a pause of automation in a Workspace. `NULL` while automation is not paused. */
export const automationColumns: ReadonlyArray<string> = [
  `ALTER TABLE workspaces ADD COLUMN automation_paused_at TEXT`,
  `ALTER TABLE workspaces ADD COLUMN automation_paused_by TEXT`,
  `ALTER TABLE workspaces ADD COLUMN automation_pause_reason TEXT`
]

/** Workspaces, their members and Projects. */
export const workspaceTables: ReadonlyArray<string> = [
  // `personal_owner` marks the personal Workspace of a subject, and never changes.
  `CREATE TABLE workspaces (
    id TEXT PRIMARY KEY NOT NULL,
    handle TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL,
    type TEXT NOT NULL,
    personal_owner TEXT UNIQUE,
    archived_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE TABLE memberships (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    subject TEXT NOT NULL REFERENCES users (subject),
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (workspace_id, subject)
  )`,
  `CREATE INDEX memberships_by_subject ON memberships (subject, status, workspace_id)`,
  `CREATE TABLE projects (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    is_default INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (workspace_id, slug)
  )`,
  `CREATE UNIQUE INDEX projects_default ON projects (workspace_id) WHERE is_default = 1`
]
