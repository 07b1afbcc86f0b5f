/**
 * Queued mails. `content` is sealed, and becomes `NULL` once the mail has been sent or abandoned. `invitations.mailed_hash` is
 * the digest of the second link, which only the mail contains; using this link proves that the person owns the address.
 */
export const mailTables: ReadonlyArray<string> = [
  `CREATE TABLE mails (
    id TEXT PRIMARY KEY NOT NULL,
    recipient TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT,
    attempts INTEGER NOT NULL,
    next_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    ended_at TEXT,
    outcome TEXT
  )`,
  `CREATE INDEX mails_due ON mails (next_at, id) WHERE ended_at IS NULL`,
  `CREATE INDEX mails_by_recipient ON mails (recipient, kind, created_at)`,
  `ALTER TABLE invitations ADD COLUMN mailed_hash TEXT`,
  `CREATE UNIQUE INDEX invitations_by_mailed_hash ON invitations (mailed_hash)`
]

/**
 * The person who entered the address of a mail; the mail limits count mails per person. `NULL` for mails of the operator, for
 * notices and for older mails.
 */
export const mailSenderColumns: ReadonlyArray<string> = [
  `ALTER TABLE mails ADD COLUMN sender TEXT`,
  `ALTER TABLE mails ADD COLUMN workspace_id TEXT`,
  `CREATE INDEX mails_by_sender ON mails (sender, created_at)`,
  `CREATE INDEX mails_by_workspace ON mails (workspace_id, created_at)`
]
