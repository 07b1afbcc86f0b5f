import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowShape } from "../../../actors/base/database/Table.ts"

const Identity = rowShape({ table: Schema.String, sequence: Schema.String })
const Last = rowShape({ last: Schema.Int })
const Sequence = rowShape({ table: Schema.String, last: Schema.Int })

/**
 * The last number that the database assigned to a row of each table, or 0 if there was no row. The database never assigns
 * the same number again.
 */
export type Sequences = ReadonlyMap<string, number>

const identitiesOf = (sql: SqlClient.SqlClient) =>
  Identity.rowsOnce(sql)`SELECT CAST(table_name AS TEXT) AS "table",
      pg_get_serial_sequence(quote_ident(table_name), column_name) AS sequence
    FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES' ORDER BY table_name`

const readOfPostgres = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const last = new Map<string, number>()
  for (const { sequence, table } of yield* identitiesOf(sql)) {
    const [row] = yield* Last.rowsOnce(sql)`SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last
      FROM ${sql.literal(sequence)}`
    last.set(table, row?.last ?? 0)
  }
  return last
})

// SQLite has a sequence only for tables that have ever contained a row.
const readOfSqlite = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const rows = yield* Sequence.rowsOnce(sql)`SELECT t.name AS "table", COALESCE(s.seq, 0) AS last
    FROM sqlite_schema t LEFT JOIN sqlite_sequence s ON s.name = t.name
    WHERE t.type = 'table' AND t.sql LIKE '% AUTOINCREMENT%' ORDER BY t.name`
  return new Map(rows.map(({ last, table }) => [table, last]))
})

export const readSequences = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({ pg: () => readOfPostgres(sql), orElse: () => readOfSqlite(sql) })

const continueInPostgres = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, sequences: Sequences) {
  for (const { sequence, table } of yield* identitiesOf(sql)) {
    const last = sequences.get(table) ?? 0
    yield* sql`SELECT setval(CAST(${sequence} AS REGCLASS), ${Math.max(last, 1)}, ${sql.literal(String(last > 0))})`
  }
})

const continueInSqlite = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, sequences: Sequences) {
  for (const [table, last] of sequences) {
    yield* sql`DELETE FROM sqlite_sequence WHERE name = ${table}`
    if (last > 0) yield* sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`
  }
})

/** Makes the sequences of the database continue after these numbers. */
export const continueSequences = (sql: SqlClient.SqlClient, sequences: Sequences) =>
  sql.onDialectOrElse({
    pg: () => continueInPostgres(sql, sequences),
    orElse: () => continueInSqlite(sql, sequences)
  })
