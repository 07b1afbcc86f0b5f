/** The installation that owns a database, and restored records that nobody has confirmed yet. */
export const installationTables: ReadonlyArray<string> = [
  // A single row. `instance.json` in the data folder contains the same id, so that svc detects a database from another
  // installation.
  `CREATE TABLE installation (
    id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
    installation_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    restored_at TEXT
  )`,
  `INSERT INTO installation (id, installation_id, created_at)
    VALUES (1, 'inst_' || lower(hex(randomblob(12))), strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`,
  // The records to review. A record is waiting for review while its own status is 'unconfirmed', whatever this table contains.
  `CREATE TABLE restore_review (
    record_id TEXT PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL,
    previous_status TEXT NOT NULL,
    restored_at TEXT NOT NULL,
    decision TEXT,
    decided_at TEXT
  )`
]

/**
 * The release that last used the database. An earlier release that cannot read the database reports the release that can.
 */
export const installationReleaseColumns: ReadonlyArray<string> = ["ALTER TABLE installation ADD COLUMN release TEXT"]
