import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { MoveRefused } from "./MoveRefused.ts"
import type { ColumnShape, TableShape } from "./TableShapes.ts"

/**
 * A value in a form that is the same for both databases. Integers are decimal text, because a number cannot represent every
 * integer.
 */
export type CanonicalValue = string | Uint8Array | null
/** Values in the order of the table's columns. */
export type CanonicalRow = ReadonlyArray<CanonicalValue>

/** Target size of the values in a page. */
const pageBytes = 4 * 1024 * 1024
const mostRows = 1000
/** Number of rows in the first page of a table. It is small, because a single row may contain a megabyte. */
export const firstRows = 8

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Reads SQLite text as bytes, because the client would replace invalid UTF-8. */
const selected = (isPostgres: boolean, { kind, name }: ColumnShape): string => {
  const column = quoted(name)
  if (kind === "integer") return `CAST(${column} AS TEXT) AS ${column}`
  return kind === "text" && !isPostgres ? `CAST(${column} AS BLOB) AS ${column}` : column
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Describes a row by the values of its key. */
export const keyText = ({ columns, key }: TableShape, row: CanonicalRow): string =>
  key
    .map(({ name }) => {
      const value = row[columns.findIndex((column) => column.name === name)]
      return `${name} ${typeof value === "string" ? JSON.stringify(value) : "?"}`
    })
    .join(", ")

const decoded = (table: TableShape, { kind, name }: ColumnShape, value: unknown) => {
  if (value === null || value === undefined) return Effect.succeed(null)
  if (kind === "bytes" || typeof value === "string") {
    return typeof value === "string" || value instanceof Uint8Array
      ? Effect.succeed(value)
      : Effect.die(new Error(`${table.name}.${name} is neither text nor bytes`))
  }
  return value instanceof Uint8Array
    ? Effect.try({
        try: () => decoder.decode(value),
        catch: () => new MoveRefused({ message: `${table.name}.${name} has a text that is not valid UTF-8.` })
      })
    : Effect.die(new Error(`${table.name}.${name} is neither text nor bytes`))
}

/** Binds a value with the type of its column. */
export const boundValue = ({ kind }: ColumnShape, value: CanonicalValue): string | bigint | Uint8Array | null =>
  kind === "integer" && typeof value === "string" ? BigInt(value) : value

/** Reads the rows after the row with the given key, in key order. */
export const rowsAfter = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: TableShape,
  after: CanonicalRow | undefined,
  limit: number
) {
  const isPostgres = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  // Qualify the column with the table alias, because the bare name would refer to the selected text.
  const key = sql.literal(table.key.map(({ name }) => `r.${quoted(name)}`).join(", "))
  const values = sql.literal(table.columns.map((column) => selected(isPostgres, column)).join(", "))
  const last = table.key.map((column) => {
    const index = table.columns.findIndex(({ name }) => name === column.name)
    return sql`${boundValue(column, after?.[index] ?? null)}`
  })
  const where = after === undefined ? sql.literal("") : sql`WHERE (${key}) > (${sql.csv(last)})`
  const rows = yield* sql`SELECT ${values} FROM ${sql(table.name)} r ${where}
    ORDER BY ${key} LIMIT ${limit}`.unprepared
  return yield* Effect.forEach(rows, (row) =>
    Effect.forEach(table.columns, (column) => decoded(table, column, row[column.name]))
  )
})

const bytesOf = (value: CanonicalValue): number => (value === null ? 0 : value.length)

/** Chooses the number of rows for the next page, based on the size of this page. */
export const nextRows = (rows: ReadonlyArray<CanonicalRow>): number => {
  const bytes = rows.reduce((sum, row) => row.reduce((size, value) => size + bytesOf(value), sum), 1)
  return Math.max(1, Math.min(mostRows, Math.floor((rows.length * pageBytes) / bytes)))
}

const encoder = new TextEncoder()

/** Digest of a row. It covers the length and the kind of each value, so different rows have different digests. */
export const rowDigest = ({ columns }: TableShape, row: CanonicalRow): string => {
  const hash = createHash("sha256")
  for (const [index, { kind }] of columns.entries()) {
    const value = row[index] ?? null
    const bytes = typeof value === "string" ? encoder.encode(value) : value
    hash.update(bytes === null ? "null\n" : `${kind} ${bytes.length}\n`)
    if (bytes !== null) hash.update(bytes)
  }
  return hash.digest("hex")
}
