/** Identities at the upstream OpenID provider, and sign-ins there that are in progress. */
export const upstreamTables: ReadonlyArray<string> = [
  `CREATE TABLE upstream_identities (
    issuer TEXT NOT NULL,
    upstream_subject TEXT NOT NULL,
    subject TEXT NOT NULL REFERENCES users (subject),
    created_at TEXT NOT NULL,
    last_used_at TEXT NOT NULL,
    PRIMARY KEY (issuer, upstream_subject),
    UNIQUE (subject, issuer)
  )`,
  `CREATE TABLE upstream_sign_ins (
    secret_hash TEXT PRIMARY KEY NOT NULL,
    link_subject TEXT REFERENCES users (subject),
    return_path TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`
]

/** The address that the provider reported as verified at the last sign-in. */
export const upstreamAddressColumns: ReadonlyArray<string> = [
  `ALTER TABLE upstream_identities ADD COLUMN verified_email TEXT`
]

/**
 * `invitation_id` is the invitation that a new account accepts, and `invitation_proof` records how using the invitation's
 * link proves the address. `provisioned_memberships` contains the memberships that follow sign-in rules; `role` becomes
 * `NULL` when the rules end the membership.
 */
export const provisioningTables: ReadonlyArray<string> = [
  `ALTER TABLE upstream_sign_ins ADD COLUMN invitation_id TEXT`,
  `ALTER TABLE upstream_sign_ins ADD COLUMN invitation_proof TEXT`,
  `CREATE TABLE provisioned_memberships (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    subject TEXT NOT NULL REFERENCES users (subject),
    role TEXT,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (workspace_id, subject)
  )`
]
