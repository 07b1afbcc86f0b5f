/** Audit events, and the receipts of idempotent requests. */
export const auditTables: ReadonlyArray<string> = [
  // Append-only: nothing updates or deletes these rows. `data` is JSON and never contains values.
  `CREATE TABLE audit_events (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT,
    actor_kind TEXT NOT NULL,
    actor_subject TEXT,
    actor_token_id TEXT,
    action TEXT NOT NULL,
    target_kind TEXT NOT NULL,
    target_id TEXT NOT NULL,
    capsule_id TEXT,
    run_id TEXT,
    data TEXT NOT NULL,
    request_id TEXT,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX audit_events_by_workspace ON audit_events (workspace_id, created_at, id)`,
  `CREATE INDEX audit_events_by_capsule ON audit_events (capsule_id, created_at, id)`,
  // `scope` is the Workspace id or, for routes without a Workspace, the subject.
  `CREATE TABLE idempotency_receipts (
    scope TEXT NOT NULL,
    actor TEXT NOT NULL,
    route TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    result_id TEXT NOT NULL,
    first_status INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (scope, actor, route, idempotency_key)
  )`,
  `CREATE INDEX idempotency_receipts_by_age ON idempotency_receipts (created_at)`
]

/** Indexes for the history of a person and the history of a Run. */
export const auditFilterIndexes: ReadonlyArray<string> = [
  `CREATE INDEX audit_events_by_actor ON audit_events (workspace_id, actor_subject, created_at, id)`,
  `CREATE INDEX audit_events_by_run ON audit_events (run_id, created_at, id) WHERE run_id IS NOT NULL`
]

/**
 * The position of each event in its keyed chain (`actors/base/audit/AuditLink.ts`), and a table with one row per chain.
 * Events of earlier releases get a position at the next startup.
 */
export const auditChainTables: ReadonlyArray<string> = [
  `ALTER TABLE audit_events ADD COLUMN position INTEGER`,
  `ALTER TABLE audit_events ADD COLUMN mac TEXT`,
  `CREATE UNIQUE INDEX audit_events_by_position ON audit_events (workspace_id, position)`,
  `CREATE INDEX audit_events_unchained ON audit_events (created_at, id) WHERE position IS NULL`,
  // `scope` is a Workspace id, or '' for the installation. Once the installation's chain exists, its row counts the Workspace
  // chains.
  `CREATE TABLE audit_chains (
    scope TEXT PRIMARY KEY NOT NULL,
    position INTEGER NOT NULL,
    mac TEXT NOT NULL,
    pruned_position INTEGER NOT NULL,
    pruned_mac TEXT NOT NULL,
    chains INTEGER,
    seal TEXT NOT NULL
  )`
]
