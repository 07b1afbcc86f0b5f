/**
 * The OpenID issuer: its keys, the clients of Capsules, and people's grants to clients. Every bearer secret is stored only as its
 * SHA-256. Opaque access tokens are in `oauth_access_tokens`.
 */
export const identityTables: ReadonlyArray<string> = [
  // `private_jwk` is sealed. A `next` key is published before it is used to sign; a `retired` key remains published until
  // everything signed with it has expired.
  `CREATE TABLE oidc_signing_keys (
    kid TEXT PRIMARY KEY NOT NULL,
    algorithm TEXT NOT NULL,
    status TEXT NOT NULL,
    public_jwk TEXT NOT NULL,
    private_jwk TEXT NOT NULL,
    published_at TEXT NOT NULL,
    activated_at TEXT,
    retired_at TEXT
  )`,
  `CREATE UNIQUE INDEX oidc_signing_keys_active ON oidc_signing_keys (algorithm) WHERE status = 'active'`,
  `CREATE UNIQUE INDEX oidc_signing_keys_next ON oidc_signing_keys (algorithm) WHERE status = 'next'`,
  // Only an apply registers a client. A null activation digest means that the authority is stale.
  `CREATE TABLE oidc_capsule_clients (
    client_id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL UNIQUE REFERENCES capsules (id),
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    activation_digest TEXT,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  // The values that a plan delivered to its module. The apply registers exactly these values or nothing.
  `CREATE TABLE oidc_plan_pins (
    plan_run_id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    endpoint_origin TEXT NOT NULL,
    authority_digest TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX oidc_plan_pins_by_capsule ON oidc_plan_pins (capsule_id)`,
  // One person's consent to one client. Revoking it invalidates everything issued under it.
  `CREATE TABLE oidc_grants (
    id TEXT PRIMARY KEY NOT NULL,
    client_id TEXT NOT NULL,
    subject TEXT NOT NULL REFERENCES users (subject),
    session_id TEXT,
    workspace_id TEXT REFERENCES workspaces (id),
    scopes TEXT NOT NULL,
    claims TEXT NOT NULL,
    resource TEXT,
    auth_time INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    revoked_reason TEXT
  )`,
  `CREATE INDEX oidc_grants_by_subject ON oidc_grants (subject, created_at, id)`,
  `CREATE INDEX oidc_grants_by_client ON oidc_grants (client_id)`,
  `CREATE INDEX oidc_grants_by_session ON oidc_grants (session_id)`,
  `CREATE TABLE oidc_codes (
    secret_hash TEXT PRIMARY KEY NOT NULL,
    grant_id TEXT NOT NULL REFERENCES oidc_grants (id),
    redirect_uri TEXT NOT NULL,
    code_challenge TEXT,
    nonce TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at TEXT
  )`,
  `CREATE INDEX oidc_codes_by_grant ON oidc_codes (grant_id)`,
  // One family of refresh tokens per grant, with at most one unused token.
  `CREATE TABLE oidc_refresh_tokens (
    secret_hash TEXT PRIMARY KEY NOT NULL,
    grant_id TEXT NOT NULL REFERENCES oidc_grants (id),
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at TEXT,
    successor_hash TEXT
  )`,
  `CREATE UNIQUE INDEX oidc_refresh_tokens_live ON oidc_refresh_tokens (grant_id) WHERE used_at IS NULL`,
  `CREATE TABLE oidc_device_codes (
    secret_hash TEXT PRIMARY KEY NOT NULL,
    user_code_digest TEXT NOT NULL UNIQUE,
    client_id TEXT NOT NULL,
    scopes TEXT NOT NULL,
    workspace_id TEXT,
    resource TEXT,
    status TEXT NOT NULL,
    grant_id TEXT REFERENCES oidc_grants (id),
    interval_seconds INTEGER NOT NULL,
    last_polled_at TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`,
  // The scopes that a person has granted to a client. The person is asked again only if the client requests more.
  `CREATE TABLE oidc_consents (
    subject TEXT NOT NULL REFERENCES users (subject),
    client_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    scopes TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (subject, client_id, workspace_id)
  )`
]

/**
 * The redirect URI of a grant, stored so that the grant can be revoked when the URI is removed. `NULL` for devices, or if
 * the URI is unknown.
 */
export const grantRedirectColumns: ReadonlyArray<string> = [
  `ALTER TABLE oidc_grants ADD COLUMN redirect_uri TEXT`,
  `UPDATE oidc_grants SET redirect_uri = (SELECT MIN(c.redirect_uri) FROM oidc_codes c WHERE c.grant_id = oidc_grants.id)`
]

/**
 * Additional redirect URLs for use after sign-out, and the secret of a Capsule's resource server. The secret is generated,
 * stored sealed in `generated_secrets`, and compared by its SHA-256. A plan pins the reviewed values together with the
 * origin.
 */
export const capsuleClientColumns: ReadonlyArray<string> = [
  `ALTER TABLE oidc_capsule_clients ADD COLUMN post_logout_paths TEXT`,
  `ALTER TABLE oidc_capsule_clients ADD COLUMN introspection_hash TEXT`,
  `ALTER TABLE oidc_plan_pins ADD COLUMN post_logout_paths TEXT`
]
