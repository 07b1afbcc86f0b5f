import { livingCapsule } from "./CapsuleTables.ts"

/** Lanes whose automatic sync was refused because the queue of the Workspace was full. */
export const deferredSyncTables: ReadonlyArray<string> = [
  `CREATE TABLE deferred_syncs (
    source_id TEXT NOT NULL REFERENCES sources (id),
    ref TEXT NOT NULL,
    path TEXT NOT NULL,
    trigger_kind TEXT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (source_id, ref, path)
  )`
]

/** Sources, their immutable snapshots, and the results of scanning them. */
export const sourceTables: ReadonlyArray<string> = [
  `CREATE TABLE sources (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    default_ref TEXT NOT NULL,
    default_path TEXT NOT NULL,
    auth_connection_id TEXT,
    auto_sync INTEGER NOT NULL,
    status TEXT NOT NULL,
    hook_secret TEXT NOT NULL,
    last_synced_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  `CREATE INDEX sources_by_workspace ON sources (workspace_id, created_at, id)`,
  // manifest_document is the text of the repository manifest. It is private and never returned.
  `CREATE TABLE source_snapshots (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    source_id TEXT NOT NULL REFERENCES sources (id),
    url TEXT NOT NULL,
    ref TEXT NOT NULL,
    resolved_commit TEXT NOT NULL,
    path TEXT NOT NULL,
    archive_digest TEXT NOT NULL,
    archive_size_bytes INTEGER NOT NULL,
    file_count INTEGER NOT NULL,
    omitted TEXT NOT NULL,
    repository_manifest TEXT NOT NULL,
    manifest_document TEXT,
    warnings TEXT NOT NULL,
    created_by_run_id TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX source_snapshots_by_source ON source_snapshots (source_id, created_at, id)`,
  `CREATE INDEX source_snapshots_by_archive ON source_snapshots (archive_digest)`,
  // `module_scan` is the complete module scan. Plan and apply need it for local modules and exact defaults.
  `CREATE TABLE compatibility_reports (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    source_id TEXT NOT NULL REFERENCES sources (id),
    source_snapshot_id TEXT NOT NULL REFERENCES source_snapshots (id),
    module_path TEXT NOT NULL,
    status TEXT NOT NULL,
    report TEXT NOT NULL,
    module_scan TEXT NOT NULL,
    contract_digest TEXT NOT NULL,
    install_config_id TEXT,
    created_by_run_id TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX compatibility_reports_by_snapshot ON compatibility_reports (source_snapshot_id, module_path)`,
  `CREATE TABLE webhook_deliveries (
    source_id TEXT NOT NULL REFERENCES sources (id),
    delivery_id TEXT NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (source_id, delivery_id)
  )`
]

/** Version of a webhook secret, starting at 1, and the time at which it became valid (null: when the Source was created). */
export const hookSecretColumns: ReadonlyArray<string> = [
  `ALTER TABLE sources ADD COLUMN hook_secret_version INTEGER NOT NULL DEFAULT 1`,
  `ALTER TABLE sources ADD COLUMN hook_secret_at TEXT`
]

/** The previous webhook secret, sealed. It is valid until the stored time, or until a delivery uses the new secret. */
export const formerHookSecretColumns: ReadonlyArray<string> = [
  `ALTER TABLE sources ADD COLUMN former_hook_secret TEXT`,
  `ALTER TABLE sources ADD COLUMN former_hook_secret_until TEXT`
]

/** The last webhook delivery to a Source, and its result. */
export const lastDeliveryColumns: ReadonlyArray<string> = [
  `ALTER TABLE sources ADD COLUMN last_delivery_at TEXT`,
  `ALTER TABLE sources ADD COLUMN last_delivery_verdict TEXT`,
  `ALTER TABLE sources ADD COLUMN last_delivery_runs INTEGER`
]

/** All lanes in use: each Source's default lane, and the lanes that existing Capsules have adopted. */
export const lanesInUse = `(SELECT id AS source_id, default_ref AS ref, default_path AS path FROM sources WHERE removed_at IS NULL
  UNION SELECT source_id, adopted_ref, adopted_path FROM capsules
  WHERE adopted_ref IS NOT NULL AND ${livingCapsule()})`

/** The results of the checks of each lane. */
export const laneTables: ReadonlyArray<string> = [
  // The current snapshot of the lane. It may not be the newest, because a force-push may return to an earlier commit.
  `CREATE TABLE source_lanes (
    source_id TEXT NOT NULL REFERENCES sources (id),
    ref TEXT NOT NULL,
    path TEXT NOT NULL,
    source_snapshot_id TEXT,
    resolved_commit TEXT,
    last_look_at TEXT,
    last_change_at TEXT,
    next_look_at TEXT,
    error_code TEXT,
    error_message TEXT,
    error_since TEXT,
    PRIMARY KEY (source_id, ref, path)
  )`,
  `INSERT INTO source_lanes (source_id, ref, path, source_snapshot_id, resolved_commit, last_look_at, last_change_at)
    SELECT s.source_id, s.ref, s.path, s.id, s.resolved_commit, s.created_at, s.created_at FROM source_snapshots s
    WHERE s.id = (SELECT n.id FROM source_snapshots n WHERE n.source_id = s.source_id AND n.ref = s.ref AND n.path = s.path
      ORDER BY n.created_at DESC, n.id DESC LIMIT 1)`,
  // Converts the default lanes that an earlier release had recorded as impossible to fetch.
  `INSERT INTO source_lanes (source_id, ref, path, error_code, error_message, error_since)
    SELECT id, default_ref, default_path, 'source_sync_failed', 'The last sync failed. Sync the Source again to see why.', updated_at
    FROM sources WHERE status = 'error'
    ON CONFLICT (source_id, ref, path) DO UPDATE SET error_code = excluded.error_code,
      error_message = excluded.error_message, error_since = excluded.error_since`,
  `CREATE INDEX source_snapshots_by_lane ON source_snapshots (source_id, ref, path, resolved_commit, created_at, id)`
]

/** The commit message; NULL if the commit was read by an earlier release, which did not store the message. */
export const commitDescriptionColumns: ReadonlyArray<string> = [
  `ALTER TABLE source_snapshots ADD COLUMN commit_description TEXT`
]

/** A removed Source starts no work and is not listed. The row remains because ended Capsules may still refer to it. */
export const sourceRemovalColumns: ReadonlyArray<string> = [`ALTER TABLE sources ADD COLUMN removed_at TEXT`]

/** Refs whose plans may open private data, as a JSON list. */
export const reviewedRefsColumns: ReadonlyArray<string> = [
  `ALTER TABLE sources ADD COLUMN reviewed_refs TEXT NOT NULL DEFAULT '[]'`
]

/** The Connection with which svc reads and comments on the pull requests of a Source. */
export const forgeConnectionColumns: ReadonlyArray<string> = [`ALTER TABLE sources ADD COLUMN forge_connection_id TEXT`]
