/** The servers that share a database, and the work that only one of them may do. */
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
