/**
 * Changes that people make to their own accounts. `confirmed_at` is the time at which the person last confirmed their
 * identity in a session. `confirm_session` is the session that requested a sign-in at the upstream provider, in order to
 * confirm the person's identity or link another one. `proof` records how using the link proves the address. A notice informs
 * the account's owner of a change. The secret of a second factor is sealed; `last_step` is the time step of its last
 * accepted code, so that no code is accepted twice.
 */
export const profileTables: ReadonlyArray<string> = [
  `ALTER TABLE account_sessions ADD COLUMN confirmed_at TEXT`,
  `ALTER TABLE upstream_sign_ins ADD COLUMN confirm_session TEXT`,
  `CREATE TABLE address_changes (
    id TEXT PRIMARY KEY NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL REFERENCES users (subject),
    email TEXT NOT NULL,
    proof TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at TEXT
  )`,
  `CREATE INDEX address_changes_by_subject ON address_changes (subject, created_at)`,
  `CREATE TABLE account_notices (
    id TEXT PRIMARY KEY NOT NULL,
    subject TEXT NOT NULL REFERENCES users (subject),
    kind TEXT NOT NULL,
    detail TEXT,
    created_at TEXT NOT NULL,
    seen_at TEXT
  )`,
  `CREATE INDEX account_notices_by_subject ON account_notices (subject, created_at, id)`,
  `CREATE TABLE totp_factors (
    subject TEXT PRIMARY KEY NOT NULL REFERENCES users (subject),
    secret TEXT NOT NULL,
    created_at TEXT NOT NULL,
    activated_at TEXT,
    last_step INTEGER,
    failures INTEGER NOT NULL,
    failing_since TEXT
  )`,
  `CREATE TABLE recovery_codes (
    id TEXT PRIMARY KEY NOT NULL,
    subject TEXT NOT NULL REFERENCES users (subject),
    code_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    used_at TEXT
  )`,
  `CREATE INDEX recovery_codes_by_subject ON recovery_codes (subject, code_hash)`
]

/** Confirmations of single actions, requested by programs with tokens. */
export const actionConfirmationTables: ReadonlyArray<string> = [
  `CREATE TABLE action_confirmations (
    secret_hash TEXT PRIMARY KEY NOT NULL,
    user_code_digest TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL REFERENCES users (subject),
    holder TEXT NOT NULL,
    asker_kind TEXT NOT NULL,
    asker_name TEXT NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    action TEXT NOT NULL,
    target_id TEXT NOT NULL,
    status TEXT NOT NULL,
    used_by TEXT,
    interval_seconds INTEGER NOT NULL,
    last_polled_at TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`
]
