/** The last request to approve each plan. */
export const approvalRequestTables: ReadonlyArray<string> = [
  `CREATE TABLE run_approval_requests (
    run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`
]

/** Comments on Runs. `text` is `NULL` after the author has removed the comment. `mentions` is a JSON list of subjects. */
export const runCommentTables: ReadonlyArray<string> = [
  `CREATE TABLE run_comments (
    id TEXT PRIMARY KEY NOT NULL,
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    author TEXT NOT NULL,
    text TEXT,
    mentions TEXT NOT NULL,
    created_at TEXT NOT NULL,
    removed_at TEXT
  )`,
  `CREATE INDEX run_comments_by_run ON run_comments (run_id, created_at, id)`
]
