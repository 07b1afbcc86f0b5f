/** The servers that share a database, and the work that only one server at a time may do. */
export const nodeTables: ReadonlyArray<string> = [
  `CREATE TABLE nodes (
    id TEXT PRIMARY KEY NOT NULL,
    incarnation INTEGER NOT NULL,
    beats INTEGER NOT NULL DEFAULT 0,
    release TEXT NOT NULL,
    label TEXT NOT NULL,
    started_at TEXT NOT NULL,
    beat_at TEXT NOT NULL,
    gone_at TEXT
  )`,
  `CREATE TABLE exclusive_work (
    name TEXT PRIMARY KEY NOT NULL,
    node_id TEXT NOT NULL,
    taken_at TEXT NOT NULL
  )`
]

/**
 * The leases of agents, stored as rows so that any server can check them, and the files that agents upload to any server.
 */
export const sharedLeaseTables: ReadonlyArray<string> = [
  "ALTER TABLE agent_runs ADD COLUMN heard INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE agent_runs ADD COLUMN newest_serial INTEGER",
  "ALTER TABLE agent_runs ADD COLUMN closed_at TEXT",
  "ALTER TABLE agent_runs ADD COLUMN node_id TEXT",
  `CREATE TABLE agent_blobs (
    run_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    parts INTEGER NOT NULL,
    stored_at TEXT NOT NULL,
    PRIMARY KEY (run_id, fence, kind, digest)
  )`,
  `CREATE TABLE agent_blob_parts (
    run_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    part INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (run_id, fence, kind, digest, part)
  )`
]

/**
 * Data that every server sharing the database may need: the archives of commits and builds, stored in parts, and the nonces
 * that agents sign. Each part belongs to one copy of an archive, so that two servers can write the same archive at once.
 */
export const sharedArchiveTables: ReadonlyArray<string> = [
  `CREATE TABLE shared_archives (
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    copy TEXT NOT NULL,
    parts INTEGER NOT NULL,
    stored_at TEXT NOT NULL,
    PRIMARY KEY (kind, digest)
  )`,
  `CREATE TABLE shared_archive_parts (
    copy TEXT NOT NULL,
    part INTEGER NOT NULL,
    stored_at TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (copy, part)
  )`,
  "CREATE INDEX shared_archive_parts_by_time ON shared_archive_parts (stored_at)",
  `CREATE TABLE agent_nonces (
    nonce_hash TEXT PRIMARY KEY NOT NULL,
    agent_id TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`,
  "CREATE INDEX agent_nonces_by_expiry ON agent_nonces (expires_at)"
]
