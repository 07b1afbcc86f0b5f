import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { representativeRows } from "../../support/RepresentativeRows.ts"

const tablesOf = (database: DatabaseSync): ReadonlyArray<string> =>
  database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'svc_migrations'"
    )
    .all()
    .map(({ name }) => String(name))

const open = <A>(file: string, use: (database: DatabaseSync) => A): A => {
  const database = new DatabaseSync(file)
  try {
    return use(database)
  } finally {
    database.close()
  }
}

/**
 * Returns the complete contents of a database, except its statistics: each row with the types of its values, the schema, and
 * the sequences.
 */
export const contentsOf = (file: string) =>
  open(file, (database) => {
    const rows: Record<string, ReadonlyArray<string>> = {}
    for (const table of tablesOf(database)) {
      const columns = database
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map(({ name }) => `quote("${String(name)}")`)
      const all = database.prepare(`SELECT ${columns.join(" || ' ' || ")} AS row FROM "${table}"`).all()
      rows[table] = all.map(({ row }) => String(row)).toSorted()
    }
    const schema = database
      .prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name")
      .all()
    const sequences = database
      .prepare("SELECT name, seq FROM sqlite_sequence ORDER BY name")
      .all()
      .map(({ name, seq }) => ({ name: String(name), seq: Number(seq) }))
    return { rows, schema, sequences }
  })

/** Returns a value for a column of this type that has no constraint on its values. */
const valueOf = (type: string): SQLInputValue => {
  if (type === "INTEGER") return Number.MAX_SAFE_INTEGER
  return type === "BLOB" ? new Uint8Array([0, 1, 255]) : "été \u{1f600} \ufffd '\"\\"
}

const rowsOf = (database: DatabaseSync, statement: string): ReadonlyArray<Readonly<Record<string, SQLInputValue>>> =>
  database.prepare(statement).all()

/**
 * Returns values for the columns that refer to other tables, taken from any row of the referenced table, or `undefined` if a
 * referenced table is empty.
 */
const references = (database: DatabaseSync, table: string) => {
  const found: Record<string, SQLInputValue> = {}
  const keys = rowsOf(
    database,
    `SELECT "table" AS parent, "from" AS child, "to" AS column FROM pragma_foreign_key_list('${table}')`
  )
  for (const { child, column, parent } of keys) {
    const [row] = rowsOf(database, `SELECT "${column ?? "id"}" AS value FROM "${parent}" ORDER BY 1 LIMIT 1`)
    if (row?.["value"] === undefined) return undefined
    found[String(child)] = row["value"]
  }
  return found
}

/** Stores the rows of a real installation, and a row in every other table, in a migrated database. */
export const fillEveryTable = (file: string): void =>
  open(file, (database) => {
    database.exec("PRAGMA foreign_keys = OFF; BEGIN")
    const insert = (table: string, row: Readonly<Record<string, SQLInputValue>>) => {
      const names = Object.keys(row)
      database
        .prepare(`INSERT INTO "${table}" (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`)
        .run(...Object.values(row))
    }
    for (const [table, row] of representativeRows) insert(table, row)
    let empty = tablesOf(database)
    while (empty.length > 0) {
      const before = empty.length
      empty = empty.filter((table) => rowsOf(database, `SELECT 1 FROM "${table}" LIMIT 1`).length === 0)
      for (const table of empty) {
        const parents = references(database, table)
        if (parents === undefined) continue
        const columns = rowsOf(database, `SELECT name, type FROM pragma_table_info('${table}')`)
        insert(table, {
          ...Object.fromEntries(columns.map(({ name, type }) => [String(name), valueOf(String(type))])),
          ...parents
        })
      }
      if (empty.length === before) throw new Error(`No row fits ${empty.join(", ")}`)
    }
    database.exec("COMMIT")
    if (rowsOf(database, "PRAGMA foreign_key_check").length > 0) throw new Error("A row refers to nothing")
  })
