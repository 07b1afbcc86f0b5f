import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowShape } from "../../../actors/base/database/Table.ts"
import { quoted } from "./CanonicalRows.ts"
import type { TableShape } from "./TableShapes.ts"

const Constraint = rowShape({ owner: Schema.String, name: Schema.String, definition: Schema.String })
const Trigger = rowShape({ name: Schema.String, statement: Schema.String })

const run = (sql: SqlClient.SqlClient, statements: ReadonlyArray<string>) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement).unprepared, { discard: true })

/**
 * Empties the tables of a PostgreSQL target, disables their triggers, drops the foreign keys, runs `copy`, and restores
 * triggers and keys, all in one transaction. Triggers would record the copied rows as changes. The keys are checked when
 * they are added again.
 */
const withoutConstraintsOfPostgres = Effect.fnUntraced(function* <E, R>(
  sql: SqlClient.SqlClient,
  tables: ReadonlyArray<TableShape>,
  copy: Effect.Effect<void, E, R>
) {
  const keys = yield* Constraint.rowsOnce(sql)`SELECT CAST(c.relname AS TEXT) AS owner, CAST(k.conname AS TEXT) AS name,
      pg_get_constraintdef(k.oid) AS definition
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.contype = 'f' AND c.relnamespace = CAST(current_schema() AS REGNAMESPACE)`
  const table = (name: string) => `ALTER TABLE ${quoted(name)}`
  yield* run(
    sql,
    keys.map(({ name, owner }) => `${table(owner)} DROP CONSTRAINT ${quoted(name)}`)
  )
  yield* run(
    sql,
    tables.map(({ name }) => `${table(name)} DISABLE TRIGGER USER`)
  )
  yield* run(sql, [`TRUNCATE ${tables.map(({ name }) => quoted(name)).join(", ")}`])
  yield* copy
  yield* run(
    sql,
    tables.map(({ name }) => `${table(name)} ENABLE TRIGGER USER`)
  )
  yield* run(
    sql,
    keys.map(({ definition, name, owner }) => `${table(owner)} ADD CONSTRAINT ${quoted(name)} ${definition}`)
  )
})

/**
 * Like `withoutConstraintsOfPostgres`, but the caller must disable SQLite's foreign key check, which is a setting of the
 * session.
 */
const withoutTriggersOfSqlite = Effect.fnUntraced(function* <E, R>(
  sql: SqlClient.SqlClient,
  tables: ReadonlyArray<TableShape>,
  copy: Effect.Effect<void, E, R>
) {
  const triggers = yield* Trigger.rowsOnce(sql)`SELECT name, sql AS statement FROM sqlite_schema
    WHERE type = 'trigger' ORDER BY rowid`
  yield* run(
    sql,
    triggers.map(({ name }) => `DROP TRIGGER ${quoted(name)}`)
  )
  yield* run(
    sql,
    tables.map(({ name }) => `DELETE FROM ${quoted(name)}`)
  )
  yield* copy
  yield* run(
    sql,
    triggers.map(({ statement }) => statement)
  )
})

/**
 * Empties the tables of a target and runs `copy` while the target has no triggers or foreign keys, in the caller's
 * transaction.
 */
export const withoutConstraints = <E, R>(
  sql: SqlClient.SqlClient,
  tables: ReadonlyArray<TableShape>,
  copy: Effect.Effect<void, E, R>
) =>
  sql.onDialectOrElse({
    pg: () => withoutConstraintsOfPostgres(sql, tables, copy),
    orElse: () => withoutTriggersOfSqlite(sql, tables, copy)
  })
