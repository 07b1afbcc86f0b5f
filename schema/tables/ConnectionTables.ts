/** Credential holders. `sealed_values` holds every value and file; it is emptied when the Connection is revoked. */
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
 * Where a Git Connection may be sent: `origins` is null until it is known, and then nothing is sent. What Sources did
 * with older Connections is only proposed, with who last chose the Connection, since copying it would approve an attack.
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
