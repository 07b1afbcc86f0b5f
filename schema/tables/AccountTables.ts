/** Accounts, their sign-in methods and tokens. Every bearer secret is stored only as its SHA-256. */
export const accountTables: ReadonlyArray<string> = [
  `CREATE TABLE users (
    subject TEXT PRIMARY KEY NOT NULL,
    email TEXT NOT NULL UNIQUE,
    display_name TEXT,
    is_operator INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE TABLE user_passwords (
    subject TEXT PRIMARY KEY NOT NULL REFERENCES users (subject),
    password_hash TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE TABLE setup_links (
    id TEXT PRIMARY KEY NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    purpose TEXT NOT NULL,
    subject TEXT REFERENCES users (subject),
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at TEXT
  )`,
  `CREATE TABLE account_sessions (
    id TEXT PRIMARY KEY NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL REFERENCES users (subject),
    workspace_id TEXT,
    user_agent TEXT,
    method TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    revoked_at TEXT
  )`,
  `CREATE INDEX account_sessions_by_subject ON account_sessions (subject, created_at, id)`,
  `CREATE TABLE access_tokens (
    token_id TEXT PRIMARY KEY NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL REFERENCES users (subject),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    scopes TEXT NOT NULL,
    workspace_id TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT,
    last_used_at TEXT
  )`,
  `CREATE INDEX access_tokens_by_subject ON access_tokens (subject, created_at, token_id)`,
  // Opaque OAuth access tokens of the issuer. They are checked for collisions with sessions and personal tokens.
  `CREATE TABLE oauth_access_tokens (
    id TEXT PRIMARY KEY NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL REFERENCES users (subject),
    client_id TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    scopes TEXT NOT NULL,
    workspace_id TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    revoked_at TEXT
  )`,
  `CREATE TABLE passkeys (
    id TEXT PRIMARY KEY NOT NULL,
    subject TEXT NOT NULL REFERENCES users (subject),
    credential_id TEXT NOT NULL UNIQUE,
    public_key TEXT NOT NULL,
    counter INTEGER NOT NULL,
    transports TEXT NOT NULL,
    device_type TEXT NOT NULL,
    backed_up INTEGER NOT NULL,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT
  )`,
  `CREATE INDEX passkeys_by_subject ON passkeys (subject, created_at, id)`,
  `CREATE TABLE passkey_challenges (
    id TEXT PRIMARY KEY NOT NULL,
    challenge TEXT NOT NULL UNIQUE,
    purpose TEXT NOT NULL,
    subject TEXT,
    expires_at TEXT NOT NULL
  )`
]
