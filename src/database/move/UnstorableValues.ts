import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { quoted } from "./CanonicalRows.ts"
import type { ColumnShape, TableShape } from "./TableShapes.ts"

/** An SQLite value that a PostgreSQL column cannot store. */
export interface UnstorableValue {
  readonly table: string
  readonly column: string
  readonly key: Readonly<Record<string, string | null>>
  readonly problem: string
}

const storedAs = { integer: "integer", text: "text", bytes: "blob" } as const

/**
 * Returns an SQL expression that is null for values that PostgreSQL can store. SQLite does not check types, and its keys may
 * contain nulls.
 */
const problemOf = ({ kind, name }: ColumnShape, isKey: boolean): string => {
  const column = quoted(name)
  const parts = [
    ...(isKey ? [`WHEN ${column} IS NULL THEN 'null in a key'`] : []),
    `WHEN typeof(${column}) NOT IN ('${storedAs[kind]}', 'null') THEN typeof(${column}) || ' in a column for ${kind}'`,
    ...(kind === "text" ? [`WHEN instr(CAST(${column} AS BLOB), X'00') > 0 THEN 'U+0000 in a text'`] : [])
  ]
  return `CASE ${parts.join(" ")} END`
}

/** Returns every value in an SQLite table that PostgreSQL cannot store. */
export const unstorableValues = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, table: TableShape) {
  const isKey = ({ name }: ColumnShape) => table.key.some((column) => column.name === name)
  const problems = table.columns.map((column) => problemOf(column, isKey(column)))
  const keys = table.key.map(({ name }, index) => `CAST(${quoted(name)} AS TEXT) AS key_${index}`)
  const named = problems.map((problem, index) => `${problem} AS problem_${index}`)
  const rows = yield* sql`SELECT ${sql.literal([...keys, ...named].join(", "))}
    FROM ${sql(table.name)} WHERE COALESCE(${sql.literal(problems.join(", "))}, NULL) IS NOT NULL
    ORDER BY ${sql.literal(table.key.map(({ name }) => quoted(name)).join(", "))}`.unprepared
  const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)
  return rows.flatMap((row) => {
    const key = Object.fromEntries(table.key.map(({ name }, index) => [name, textOf(row[`key_${index}`])]))
    return table.columns.flatMap(({ name }, index): ReadonlyArray<UnstorableValue> => {
      const problem = textOf(row[`problem_${index}`])
      return problem === null ? [] : [{ table: table.name, column: name, key, problem }]
    })
  })
})
