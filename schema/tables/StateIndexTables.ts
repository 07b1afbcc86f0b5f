/**
 * Columns for the versions of an object, each stored once. A version is valid from generation `valid_from` until just before
 * `valid_to`.
 */
const versions = (columns: string) => `${columns}
    digest TEXT NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    run_id TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    ended_by_run_id TEXT,`

/**
 * The contents of StateVersions without values, so that listing them does not require decrypting a state. `state_indexes` has a
 * row for each indexed StateVersion. Digests are keyed. Run ids are not foreign keys, because a Run may be removed before the
 * objects that it changed.
 */
export const stateIndexTables: ReadonlyArray<string> = [
  `CREATE TABLE state_indexes (
    state_version_id TEXT PRIMARY KEY NOT NULL REFERENCES state_versions (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    generation INTEGER NOT NULL,
    outcome TEXT NOT NULL
  )`,
  `CREATE INDEX state_indexes_by_capsule ON state_indexes (capsule_id, generation)`,
  `CREATE TABLE resource_versions (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),${versions(`
    address TEXT NOT NULL,
    deposed TEXT NOT NULL,
    type TEXT NOT NULL,
    provider TEXT NOT NULL,
    object_id TEXT,
    object_key TEXT,
    attributes TEXT NOT NULL,`)}
    PRIMARY KEY (capsule_id, address, deposed, valid_from)
  )`,
  `CREATE INDEX resource_versions_current ON resource_versions (capsule_id, address, deposed) WHERE valid_to IS NULL`,
  `CREATE INDEX resource_versions_by_key ON resource_versions (workspace_id, object_key)
    WHERE valid_to IS NULL AND object_key IS NOT NULL`,
  `CREATE INDEX resource_versions_begun ON resource_versions (capsule_id, valid_from)`,
  `CREATE INDEX resource_versions_ended ON resource_versions (capsule_id, valid_to)`,
  `CREATE TABLE output_versions (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    capsule_id TEXT NOT NULL REFERENCES capsules (id),${versions(`
    name TEXT NOT NULL,`)}
    PRIMARY KEY (capsule_id, name, valid_from)
  )`,
  `CREATE INDEX output_versions_current ON output_versions (capsule_id, name) WHERE valid_to IS NULL`,
  `CREATE INDEX output_versions_ended ON output_versions (capsule_id, valid_to)`
]

/**
 * Earlier releases stored secret instance keys. Only the sealed states show which keys are secret, so if a Capsule has
 * instance keys, svc hides all its resources until the states have been read.
 */
export const uncheckedKeys: ReadonlyArray<string> = [
  `UPDATE state_indexes SET outcome = 'unchecked' WHERE outcome = 'indexed' AND capsule_id IN (
    SELECT capsule_id FROM resource_versions WHERE address LIKE '%["%' OR origin LIKE '%["%')`
]

/**
 * The first address of an object that moved, and whether an object is tainted. Objects that were indexed before these
 * columns existed have neither value until they change.
 */
export const movedObjectColumns: ReadonlyArray<string> = [
  `ALTER TABLE resource_versions ADD COLUMN origin TEXT`,
  `ALTER TABLE resource_versions ADD COLUMN tainted INTEGER NOT NULL DEFAULT 0`,
  `CREATE INDEX resource_versions_by_origin ON resource_versions (capsule_id, origin) WHERE origin IS NOT NULL`
]
