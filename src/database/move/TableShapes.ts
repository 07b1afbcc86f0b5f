import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../../../actors/base/database/Table.ts"
import { MoveRefused } from "./MoveRefused.ts"

export type ColumnKind = "integer" | "text" | "bytes"

export interface ColumnShape {
  readonly name: string
  readonly kind: ColumnKind
}

/** A table that both databases have. */
export interface TableShape {
  readonly name: string
  readonly columns: ReadonlyArray<ColumnShape>
  /** Columns of the primary key, in key order. */
  readonly key: ReadonlyArray<ColumnShape>
}

const Column = rowShape({
  table: Schema.String,
  column: Schema.String,
  type: Schema.String,
  /** Position in the primary key; 0 for other columns. */
  key: Schema.Int
})

const kinds: ReadonlyMap<string, ColumnKind> = new Map([
  ["INTEGER", "integer"],
  ["bigint", "integer"],
  ["TEXT", "text"],
  ["text", "text"],
  ["BLOB", "bytes"],
  ["bytea", "bytes"]
])

const columnsOf = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => Column.rowsOnce(sql)`SELECT CAST(c.relname AS TEXT) AS "table", CAST(a.attname AS TEXT) AS "column",
        format_type(a.atttypid, a.atttypmod) AS type,
        COALESCE(array_position(CAST(i.indkey AS SMALLINT[]), a.attnum) + 1, 0) AS key
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
      WHERE c.relnamespace = CAST(current_schema() AS REGNAMESPACE) AND c.relkind = 'r' AND c.relname <> 'svc_migrations'
      ORDER BY 1, 2`,
    orElse: () => Column.rowsOnce(sql)`SELECT t.name AS "table", c.name AS "column", c.type AS type, c.pk AS key
      FROM sqlite_schema t, pragma_table_info(t.name) c
      WHERE t.type = 'table' AND t.name NOT GLOB 'sqlite_*' AND t.name <> 'svc_migrations'
      ORDER BY 1, 2`
  })

/** Returns the tables of the database, sorted by name. Fails if a column has a type that svc does not use. */
export const readShapes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = new Map<string, Array<ColumnShape & { readonly position: number }>>()
  for (const { column, key, table, type } of yield* columnsOf(sql)) {
    const kind = kinds.get(type)
    if (kind === undefined) {
      return yield* new MoveRefused({
        message: `The column ${table}.${column} has the type ${type}, which svc does not use.`
      })
    }
    const columns = tables.get(table) ?? []
    columns.push({ name: column, kind, position: key })
    tables.set(table, columns)
  }
  return [...tables].map(([name, columns]): TableShape => {
    const key = columns.filter(({ position }) => position > 0).toSorted((a, b) => a.position - b.position)
    const plain = ({ kind, name }: ColumnShape): ColumnShape => ({ name, kind })
    return { name, columns: columns.map(plain), key: key.map(plain) }
  })
})

const textOf = (shapes: ReadonlyArray<TableShape>): ReadonlyMap<string, string> =>
  new Map(shapes.map((shape) => [shape.name, JSON.stringify(shape)]))

/** Returns the names of tables that exist in only one of two databases, or whose columns differ. */
export const differingTables = (
  some: ReadonlyArray<TableShape>,
  others: ReadonlyArray<TableShape>
): ReadonlyArray<string> => {
  const left = textOf(some)
  const right = textOf(others)
  return [...new Set([...left.keys(), ...right.keys()])].filter((name) => left.get(name) !== right.get(name))
}
