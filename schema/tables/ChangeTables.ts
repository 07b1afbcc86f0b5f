/**
 * Approvals of the changes in speculative plans, and the inputs of speculative plans for which the Run's row has no column.
 * `provided` identifies credentials that an agent supplied; `commit_authors` are the addresses of the authors of every
 * commit between the base and the head, `NULL` if svc could not read them. A member may have one valid approval per change.
 */
export const changeApprovalTables: ReadonlyArray<string> = [
  `CREATE TABLE change_bases (
    run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    consumed_outputs TEXT NOT NULL,
    deliveries TEXT NOT NULL,
    provided TEXT NOT NULL,
    commit_authors TEXT
  )`,
  `CREATE TABLE change_approvals (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    behind TEXT NOT NULL,
    plan_digest TEXT NOT NULL,
    change_digest TEXT NOT NULL,
    resolved_commit TEXT NOT NULL,
    rules TEXT NOT NULL,
    comment TEXT,
    created_at TEXT NOT NULL,
    withdrawn_at TEXT,
    withdrawn_by TEXT,
    carried_to_run_id TEXT
  )`,
  `CREATE UNIQUE INDEX change_approvals_of_run ON change_approvals (run_id, subject) WHERE withdrawn_at IS NULL`,
  `CREATE INDEX change_approvals_by_run ON change_approvals (run_id, created_at, id)`,
  `CREATE INDEX change_approvals_of_capsule ON change_approvals (capsule_id, created_at, id) WHERE withdrawn_at IS NULL`
]
