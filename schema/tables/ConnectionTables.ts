/** Credentials. `sealed_values` contains all values and files, and is emptied when the Connection is revoked. */
export const connectionTables: ReadonlyArray<string> = [
  `CREATE TABLE connections (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT REFERENCES workspaces (id),
    scope TEXT NOT NULL,
    provider TEXT NOT NULL,
    kind TEXT NOT NULL,
    recipe_id TEXT NOT NULL,
    auth_mode TEXT NOT NULL,
    display_name TEXT NOT NULL,
    status TEXT NOT NULL,
    env_names TEXT NOT NULL,
    file_names TEXT NOT NULL,
    sealed_values TEXT,
    provider_config TEXT NOT NULL,
    module_input_defaults TEXT NOT NULL,
    last_used_at TEXT,
    verified_at TEXT,
    expires_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE INDEX connections_by_workspace ON connections (workspace_id, created_at, id)`,
  `CREATE TABLE output_shares (
    id TEXT PRIMARY KEY NOT NULL,
    from_workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    to_workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    producer_capsule_id TEXT NOT NULL,
    outputs TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    approved_at TEXT,
    revoked_at TEXT
  )`,
  `CREATE INDEX output_shares_from ON output_shares (from_workspace_id, created_at, id)`,
  `CREATE INDEX output_shares_to ON output_shares (to_workspace_id, created_at, id)`
]

/**
 * The origins to which svc may send a Git Connection. While `origins` is `NULL`, svc never sends the Connection. For older
 * Connections, the origins of their Sources are only proposed, together with the person who last selected the Connection,
 * because adopting them automatically could approve an attack.
 */
export const connectionOriginColumns: ReadonlyArray<string> = [
  `ALTER TABLE connections ADD COLUMN origins TEXT`,
  `ALTER TABLE connections ADD COLUMN proposed_origins TEXT`,
  `WITH chosen AS (
    SELECT target_id AS source_id, actor_subject AS subject, MAX(created_at || id) FROM audit_events
    WHERE target_kind = 'source' AND (action = 'source.create'
      OR (action = 'source.update' AND data LIKE '%"authConnectionId"%'))
    GROUP BY target_id
  ), installed AS (
    SELECT source_id, json_extract(actor, '$.actor.subject') AS subject, MIN(created_at || id) FROM install_plans
    WHERE source_id IS NOT NULL GROUP BY source_id
  ), addressed AS (
    SELECT id, substr(url, 1, instr(url, '://') + 2) AS scheme, substr(url, instr(url, '://') + 3) || '/' AS rest
    FROM sources WHERE auth_connection_id IS NOT NULL
  ), hosted AS (
    SELECT id, scheme, lower(substr(rest, 1, instr(rest, '/') - 1)) AS host FROM addressed
  ), used AS (
    SELECT s.auth_connection_id AS connection_id,
      h.scheme || CASE
        WHEN h.scheme = 'https://' AND h.host LIKE '%:443' THEN substr(h.host, 1, length(h.host) - 4)
        WHEN h.scheme = 'http://' AND h.host LIKE '%:80' THEN substr(h.host, 1, length(h.host) - 3)
        ELSE h.host END AS origin,
      -- Merging into nothing leaves out what is null.
      json_patch('{}', json_object('id', s.id, 'name', s.name, 'url', s.url,
        'chosenBy', COALESCE(c.subject, i.subject))) AS source
    FROM sources s JOIN hosted h ON h.id = s.id
      LEFT JOIN chosen c ON c.source_id = s.id LEFT JOIN installed i ON i.source_id = s.id
  ), proposed AS (
    SELECT connection_id, json_object('origin', origin, 'sources', json_group_array(json(source))) AS proposal
    FROM used GROUP BY connection_id, origin
  )
  UPDATE connections SET proposed_origins = (
    SELECT json_group_array(json(p.proposal)) FROM proposed p WHERE p.connection_id = connections.id
  ) WHERE kind IN ('git_https', 'git_ssh')`
]

const lastChangeOf = (target: string, action: string, field: string) => `(SELECT a.actor_subject FROM audit_events a
  WHERE a.target_id = ${target} AND a.action = '${action}'
    AND EXISTS (SELECT 1 FROM json_each(a.data, '$.fields') f WHERE f.value = '${field}')
  ORDER BY a.created_at DESC, a.id DESC LIMIT 1)`

/**
 * The rule for using a Connection, the version of its values, and the person whose authority automation uses. Only owners
 * and admins may use existing Connections. The migration reads from the history who attached a Connection or enabled
 * auto-update; if the history has no entry, the person is unknown.
 */
/** Normalises stored addresses. The names of both default registries are 22 characters long. */
export const providerAddressSpelling: ReadonlyArray<string> = [
  `UPDATE connections SET provider = LOWER(provider) WHERE provider <> LOWER(provider)`,
  `UPDATE connections SET provider = SUBSTR(provider, 23)
    WHERE provider LIKE 'registry.opentofu.org/%' OR provider LIKE 'registry.terraform.io/%'`
]

export const connectionUseColumns: ReadonlyArray<string> = [
  `ALTER TABLE connections ADD COLUMN use_rule TEXT NOT NULL DEFAULT '{"roles":["owner","admin"]}'`,
  `ALTER TABLE connections ADD COLUMN version INTEGER NOT NULL DEFAULT 1`,
  // The row of a removed Connection is kept without values, for the Runs and configurations that refer to it.
  `ALTER TABLE connections ADD COLUMN removed_at TEXT`,
  // Records which values each Run received. A row is kept until its Run has ended.
  `CREATE TABLE connection_holds (
    run_id TEXT NOT NULL REFERENCES runs (id),
    connection_id TEXT NOT NULL REFERENCES connections (id),
    version INTEGER NOT NULL,
    PRIMARY KEY (run_id, connection_id, version)
  )`,
  `CREATE INDEX connection_holds_by_connection ON connection_holds (connection_id, version)`,
  // Sealed values that a rotation replaced. They are kept for redaction while a Run still has them.
  `CREATE TABLE former_connection_values (
    connection_id TEXT NOT NULL REFERENCES connections (id),
    version INTEGER NOT NULL,
    sealed_values TEXT NOT NULL,
    PRIMARY KEY (connection_id, version)
  )`,
  `ALTER TABLE capsules ADD COLUMN auto_update_by TEXT`,
  `UPDATE capsules SET auto_update_by = ${lastChangeOf("capsules.id", "capsule.update", "autoUpdate")}
    WHERE auto_update_enabled = 1`,
  `ALTER TABLE sources ADD COLUMN auth_connection_by TEXT`,
  `UPDATE sources SET auth_connection_by = COALESCE(
      ${lastChangeOf("sources.id", "source.update", "authConnectionId")},
      (SELECT a.actor_subject FROM audit_events a WHERE a.target_id = sources.id AND a.action = 'source.create' LIMIT 1),
      (SELECT a.actor_subject FROM audit_events a JOIN capsules c ON c.id = a.target_id
        WHERE c.source_id = sources.id AND a.action = 'capsule.install' ORDER BY a.created_at, a.id LIMIT 1))
    WHERE auth_connection_id IS NOT NULL`,
  // Because members can also set default refs, a rule covers a Source's default ref only if an owner or admin set that ref,
  // or if it is the repository's own default.
  `ALTER TABLE sources ADD COLUMN default_ref_by_manager INTEGER NOT NULL DEFAULT 0`,
  `UPDATE sources SET default_ref_by_manager = 1 WHERE default_ref = 'HEAD'`
]

/**
 * Connections from OAuth helpers. `oauth` describes the tokens, and `sealed_tokens` contains them; the values derived from
 * the access token are stored separately. After the Connection is revoked, the tokens are kept until the authorization
 * server has revoked them. Renewed tokens grant the same authority, so they increment `token_generation` instead of
 * `version`.
 */
export const connectionOAuthTables: ReadonlyArray<string> = [
  `ALTER TABLE connections ADD COLUMN oauth TEXT`,
  `ALTER TABLE connections ADD COLUMN oauth_fault TEXT`,
  `ALTER TABLE connections ADD COLUMN sealed_tokens TEXT`,
  `ALTER TABLE connections ADD COLUMN token_generation INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE connection_holds ADD COLUMN token_generation INTEGER NOT NULL DEFAULT 0`,
  // Sealed tokens that were replaced. They are kept for redaction while a Run still has them.
  `CREATE TABLE former_connection_tokens (
    connection_id TEXT NOT NULL REFERENCES connections (id),
    token_generation INTEGER NOT NULL,
    sealed_tokens TEXT NOT NULL,
    PRIMARY KEY (connection_id, token_generation)
  )`,
  // Pending authorizations: svc has redirected the person, but the person has not returned yet. Only the digest of the state
  // parameter is stored.
  `CREATE TABLE connection_authorizations (
    state_hash TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    connection_id TEXT NOT NULL,
    helper_id TEXT NOT NULL,
    issuer TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    subject TEXT NOT NULL,
    session_id TEXT NOT NULL,
    draft TEXT NOT NULL,
    sealed_verifier TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`,
  `CREATE INDEX connection_authorizations_expiry ON connection_authorizations (expires_at)`,
  `CREATE INDEX connections_unrevoked_tokens ON connections (id) WHERE sealed_tokens IS NOT NULL`
]
