/** The host features that configurations request: delivered values, offered and consumed Interfaces, and hand-off tickets. */
export const interfaceTables: ReadonlyArray<string> = [
  // Generated once per Capsule and delivery target. A target with a different shape gets a different secret.
  `CREATE TABLE generated_secrets (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    target TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    encoding TEXT NOT NULL,
    sealed_value TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (capsule_id, target, bytes, encoding)
  )`,
  // The sealed values that a plan received, and the digest of the authority under which they were delivered.
  `CREATE TABLE run_deliveries (
    run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id),
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    sealed_values TEXT NOT NULL,
    authority_digest TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX run_deliveries_by_capsule ON run_deliveries (capsule_id)`,
  `CREATE TABLE interfaces (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    interface_key TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    version TEXT NOT NULL,
    document TEXT NOT NULL,
    inputs TEXT NOT NULL,
    access TEXT NOT NULL,
    status TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (capsule_id, interface_key)
  )`,
  `CREATE INDEX interfaces_by_workspace ON interfaces (workspace_id, created_at, id)`,
  `CREATE INDEX interfaces_by_type ON interfaces (workspace_id, type, version) WHERE status = 'resolved'`,
  // `consumer_capsule_id` and `request_key` identify the consumer and its request. A revoked row is kept as a record of the
  // refusal.
  `CREATE TABLE interface_bindings (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    interface_id TEXT NOT NULL REFERENCES interfaces (id),
    subject TEXT NOT NULL REFERENCES users (subject),
    consumer_capsule_id TEXT REFERENCES capsules (id),
    request_key TEXT NOT NULL,
    permissions TEXT NOT NULL,
    delivery_type TEXT NOT NULL,
    status TEXT NOT NULL,
    created_by_run_id TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE INDEX interface_bindings_by_interface ON interface_bindings (interface_id, subject)`,
  `CREATE INDEX interface_bindings_by_subject ON interface_bindings (subject, workspace_id, status)`,
  `CREATE INDEX interface_bindings_by_consumer ON interface_bindings (consumer_capsule_id)`,
  // Intents that an apply records in its transaction and the Interface actor carries out. Failures contain no values.
  `CREATE TABLE interface_intents (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    interface_key TEXT NOT NULL,
    run_id TEXT NOT NULL,
    install_config_id TEXT NOT NULL REFERENCES install_configs (id),
    state_version_id TEXT NOT NULL,
    status TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    code TEXT,
    message TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE INDEX interface_intents_by_capsule ON interface_intents (capsule_id, interface_key, status)`,
  `CREATE INDEX interface_intents_failed ON interface_intents (workspace_id, created_at, id) WHERE status = 'failed'`,
  // One-time tickets for hand-off flows, stored only as SHA-256.
  `CREATE TABLE setup_tickets (
    secret_hash TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    run_id TEXT NOT NULL REFERENCES runs (id),
    subject TEXT NOT NULL REFERENCES users (subject),
    product TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at TEXT
  )`
]
