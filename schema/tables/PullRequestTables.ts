/** The rule for the pull requests of a Source (`PullRequestPolicy`). */
export const pullRequestPolicyColumns: ReadonlyArray<string> = [
  `ALTER TABLE sources ADD COLUMN pull_requests TEXT NOT NULL DEFAULT 'static'`
]

/** Pull requests, the Capsules that each pull request may affect, and the polls of repositories. */
export const pullRequestTables: ReadonlyArray<string> = [
  // The person who set `pull_requests`. Speculative plans of the repository's own branches use Connections with this person's
  // role.
  `ALTER TABLE sources ADD COLUMN pull_requests_by TEXT`,
  // `asked` counts the requested polls. Once a poll has covered all of these requests, `taken` equals `asked`.
  `CREATE TABLE pull_request_looks (
    source_id TEXT PRIMARY KEY NOT NULL REFERENCES sources (id),
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    asked INTEGER NOT NULL DEFAULT 0,
    taken INTEGER NOT NULL DEFAULT 0,
    next_at TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    last_look_at TEXT,
    default_branch TEXT,
    from_number INTEGER,
    left_out INTEGER NOT NULL DEFAULT 0,
    error_code TEXT,
    error_message TEXT
  )`,
  // `due` counts the reasons to take a step. The step resets the count to 0, unless the count has changed since the step
  // read it.
  `CREATE TABLE pull_requests (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    source_id TEXT NOT NULL REFERENCES sources (id),
    number INTEGER NOT NULL,
    ref TEXT NOT NULL,
    state TEXT NOT NULL,
    head_commit TEXT NOT NULL,
    head_branch TEXT,
    fork TEXT NOT NULL,
    base_branch TEXT,
    base_commit TEXT,
    merge_commit TEXT,
    title TEXT,
    url TEXT,
    author TEXT,
    draft INTEGER,
    last_seen_at TEXT NOT NULL,
    closed_at TEXT,
    created_at TEXT NOT NULL,
    due INTEGER NOT NULL DEFAULT 0,
    sync_run_id TEXT,
    sync_attempts INTEGER NOT NULL DEFAULT 0,
    head_snapshot_id TEXT,
    review TEXT,
    planned_commit TEXT,
    planned_by TEXT,
    planned_at TEXT,
    error_code TEXT,
    error_message TEXT,
    UNIQUE (source_id, number)
  )`,
  `CREATE INDEX pull_requests_by_workspace ON pull_requests (workspace_id, created_at, id)`,
  `CREATE INDEX pull_requests_due ON pull_requests (id) WHERE due > 0`,
  `CREATE TABLE pull_request_capsules (
    pull_request_id TEXT NOT NULL REFERENCES pull_requests (id) ON DELETE CASCADE,
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    head_commit TEXT NOT NULL,
    touched INTEGER NOT NULL,
    because TEXT,
    run_id TEXT,
    refusal_code TEXT,
    refusal_message TEXT,
    PRIMARY KEY (pull_request_id, capsule_id)
  )`,
  `CREATE INDEX pull_request_capsules_by_capsule ON pull_request_capsules (capsule_id, pull_request_id)`
]

/** `planned_actor` is the person who allowed the commit. `attempt` counts the attempts to plan one head. */
export const pullRequestPlanColumns: ReadonlyArray<string> = [
  `ALTER TABLE pull_requests ADD COLUMN planned_actor TEXT`,
  `ALTER TABLE pull_requests ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0`
]

/**
 * A row with `merge_group` is not a pull request, but a commit that a merge queue tests. The column contains the numbers of its
 * pull requests; the last is the pull request for which the queue created the commit. Such rows have negative numbers, because
 * several of them may have the same last pull request.
 */
export const mergeGroupColumns: ReadonlyArray<string> = [`ALTER TABLE pull_requests ADD COLUMN merge_group TEXT`]

/**
 * `repository` identifies the repository at its forge. Several Sources may follow one repository, and each has its own row of
 * a pull request. Rows with the same Workspace, repository and ref are the same pull request.
 */
export const pullRequestRepositoryColumns: ReadonlyArray<string> = [
  `ALTER TABLE pull_requests ADD COLUMN repository TEXT`,
  `CREATE INDEX pull_requests_by_repository ON pull_requests (workspace_id, repository, ref) WHERE repository IS NOT NULL`
]

/**
 * The comment and the status of each pull request at its forge. `due` counts the reasons to send a report. Once a report has
 * covered all of these reasons, `taken` equals `due`.
 */
export const pullRequestReportTables: ReadonlyArray<string> = [
  `CREATE TABLE pull_request_reports (
    id TEXT PRIMARY KEY NOT NULL REFERENCES pull_requests (id) ON DELETE CASCADE,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    due INTEGER NOT NULL DEFAULT 0,
    taken INTEGER NOT NULL DEFAULT 0,
    seen TEXT NOT NULL,
    next_at TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    connection_id TEXT,
    repository_id TEXT,
    comment_id TEXT,
    comment_digest TEXT,
    status_digest TEXT,
    sent_at TEXT,
    error_code TEXT,
    error_message TEXT
  )`
]

/**
 * The comments that svc has read in search of requests for a new plan. `taken` identifies the poll of the repository after
 * which svc read them.
 */
export const commentLookTables: ReadonlyArray<string> = [
  `CREATE TABLE comment_looks (
    id TEXT PRIMARY KEY NOT NULL REFERENCES sources (id),
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    taken INTEGER NOT NULL,
    since TEXT NOT NULL,
    last_comment TEXT NOT NULL
  )`
]
