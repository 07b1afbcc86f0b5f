/**
 * Teams of a Workspace, approval rules, and the approvers of each plan. A `NULL` Project or environment means all Projects
 * or environments. `approver` is a subject, or `service` if svc approved the plan for a Capsule that follows its lane.
 */
export const approvalTables: ReadonlyArray<string> = [
  `CREATE TABLE teams (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (workspace_id, name)
  )`,
  `CREATE TABLE team_members (
    team_id TEXT NOT NULL REFERENCES teams (id),
    subject TEXT NOT NULL REFERENCES users (subject),
    PRIMARY KEY (team_id, subject)
  )`,
  `CREATE INDEX team_members_by_subject ON team_members (subject)`,
  `CREATE TABLE team_grants (
    team_id TEXT NOT NULL REFERENCES teams (id),
    position INTEGER NOT NULL,
    project_id TEXT REFERENCES projects (id),
    environment TEXT,
    role TEXT NOT NULL,
    PRIMARY KEY (team_id, position)
  )`,
  `CREATE TABLE approval_rules (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    project_id TEXT REFERENCES projects (id),
    environment TEXT,
    approvers INTEGER NOT NULL,
    role TEXT NOT NULL,
    team_id TEXT REFERENCES teams (id),
    plan_author_counts INTEGER NOT NULL,
    commit_author_counts INTEGER NOT NULL,
    automation_counts INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE INDEX approval_rules_by_workspace ON approval_rules (workspace_id, created_at, id)`,
  `CREATE TABLE run_approvals (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    approver TEXT NOT NULL,
    comment TEXT,
    created_at TEXT NOT NULL,
    PRIMARY KEY (run_id, approver)
  )`,
  // A member who leaves and returns is not added to their previous teams automatically; an owner must do that.
  `CREATE TRIGGER team_members_leave AFTER UPDATE OF status ON memberships WHEN NEW.status = 'suspended' BEGIN
    DELETE FROM team_members WHERE subject = NEW.subject
      AND team_id IN (SELECT id FROM teams WHERE workspace_id = NEW.workspace_id);
  END`,
  // Copies existing approvals, because their plans may still be waiting for an apply.
  `INSERT INTO run_approvals (run_id, approver, comment, created_at)
    SELECT id, COALESCE(approved_by, 'service'), approval_comment, approved_at FROM runs
    WHERE approved_at IS NOT NULL AND status = 'succeeded' AND type IN ('plan', 'destroy_plan')`,
  // Email addresses of the commit's authors; NULL if the commit was read by an earlier release, which did not store them.
  `ALTER TABLE source_snapshots ADD COLUMN authors TEXT`
]

/**
 * Columns for the authors of a plan, the creators of automations, the people responsible for an automation that approved,
 * and the people responsible for auto-update. The creators of existing automations are read from the history. If the history
 * contains no entry for an automation, only the creator of its token is known.
 */
export const planAuthorTables: ReadonlyArray<string> = [
  `CREATE TABLE plan_authors (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    part TEXT NOT NULL,
    PRIMARY KEY (run_id, subject)
  )`,
  `ALTER TABLE users ADD COLUMN made_by TEXT`,
  `UPDATE users SET made_by = (SELECT '["' || a.actor_subject || '"]' FROM audit_events a
    WHERE a.action = 'automation.create' AND a.target_id = users.subject AND a.actor_subject IS NOT NULL LIMIT 1)
    WHERE kind = 'automation'`,
  `ALTER TABLE run_approvals ADD COLUMN behind TEXT`,
  `ALTER TABLE capsules ADD COLUMN auto_update_authors TEXT`
]

/** The uncertainties that the approver acknowledged, as a JSON list of keys. */
export const acknowledgementColumns: ReadonlyArray<string> = [`ALTER TABLE run_approvals ADD COLUMN acknowledged TEXT`]

/** The setting for carrying an approval of a change over to the plan of the lane. */
export const carryOverColumns: ReadonlyArray<string> = [
  `ALTER TABLE approval_rules ADD COLUMN carry_over TEXT NOT NULL DEFAULT 'off'`
]
