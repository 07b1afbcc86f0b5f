/**
 * Notices to endpoints outside the server. The transaction that records an event also writes the event's notice and one
 * delivery per subscribed endpoint. If no endpoint has subscribed, it writes neither. `workspace_id` is `NULL` for the
 * server's endpoints and notices.
 */
export const noticeTables: ReadonlyArray<string> = [
  `CREATE TABLE notice_endpoints (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT REFERENCES workspaces (id),
    name TEXT NOT NULL,
    format TEXT NOT NULL,
    host TEXT NOT NULL,
    address TEXT NOT NULL,
    secret TEXT,
    former_secret TEXT,
    former_secret_until TEXT,
    secret_version INTEGER NOT NULL,
    kinds TEXT NOT NULL,
    filter TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    failing_since TEXT,
    paused_until TEXT,
    last_accepted_at TEXT,
    created_by TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE INDEX notice_endpoints_by_workspace ON notice_endpoints (workspace_id, created_at, id)`,
  `CREATE TABLE notices (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT REFERENCES workspaces (id),
    kind TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    path TEXT NOT NULL,
    data TEXT NOT NULL,
    mail_due INTEGER,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX notices_by_time ON notices (created_at, id)`,
  `CREATE INDEX notices_to_mail ON notices (id) WHERE mail_due IS NOT NULL`,
  `CREATE TABLE notice_deliveries (
    id TEXT PRIMARY KEY NOT NULL,
    notice_id TEXT NOT NULL REFERENCES notices (id),
    endpoint_id TEXT NOT NULL REFERENCES notice_endpoints (id),
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    last_outcome TEXT,
    last_status INTEGER,
    next_at TEXT,
    created_at TEXT NOT NULL,
    ended_at TEXT,
    UNIQUE (endpoint_id, subject, sequence)
  )`,
  `CREATE INDEX notice_deliveries_due ON notice_deliveries (endpoint_id, next_at) WHERE status = 'waiting'`,
  `CREATE INDEX notice_deliveries_waiting ON notice_deliveries (endpoint_id, subject, sequence) WHERE status = 'waiting'`,
  `CREATE INDEX notice_deliveries_by_endpoint ON notice_deliveries (endpoint_id, created_at, id)`,
  `CREATE INDEX notice_deliveries_by_notice ON notice_deliveries (notice_id)`,
  `CREATE TABLE notice_attempts (
    delivery_id TEXT NOT NULL REFERENCES notice_deliveries (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    outcome TEXT NOT NULL,
    status INTEGER,
    milliseconds INTEGER NOT NULL,
    PRIMARY KEY (delivery_id, number)
  )`,
  // The last sequence number of each subject at each endpoint. Kept after the deliveries are removed, so that no number is used
  // twice.
  `CREATE TABLE notice_sequences (
    endpoint_id TEXT NOT NULL REFERENCES notice_endpoints (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (endpoint_id, subject)
  )`,
  // The kinds of notices that a person receives by mail.
  `CREATE TABLE notice_mail_kinds (
    subject TEXT NOT NULL REFERENCES users (subject),
    kind TEXT NOT NULL,
    PRIMARY KEY (subject, kind)
  )`,
  `CREATE INDEX notice_mail_kinds_by_kind ON notice_mail_kinds (kind, subject)`,
  // The person and Workspace that a mailed notice is for. If the person has left the Workspace, the mail is not sent.
  `ALTER TABLE mails ADD COLUMN notice_subject TEXT`,
  `ALTER TABLE mails ADD COLUMN notice_workspace_id TEXT`
]

/** The last reported value of facts that change without a transaction: an expiring Connection, and a silent agent. */
export const reportedColumns: ReadonlyArray<string> = [
  `ALTER TABLE connections ADD COLUMN expiry_reported TEXT`,
  `ALTER TABLE agents ADD COLUMN away_reported_at TEXT`
]
