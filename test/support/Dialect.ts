import { Effect, type Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { newestKnown } from "../../src/database/Migrations.ts"
import { postgresStatements } from "../../src/database/postgres/SchemaDialect.ts"

/** Lets a test store rows whose parents are missing. The effect lasts for the lifetime of the test database. */
export const withoutForeignKeys = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () =>
      sql.unsafe(`DO $$ DECLARE found record; BEGIN
        FOR found IN SELECT conname, conrelid::regclass AS owner FROM pg_constraint WHERE contype = 'f' LOOP
          EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.owner, found.conname);
        END LOOP; END $$`),
    orElse: () => sql.unsafe("PRAGMA foreign_keys = OFF")
  })

/** Checks foreign keys again after `withoutForeignKeys`. In PostgreSQL, the constraints remain removed. */
export const withForeignKeys = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({ pg: () => Effect.void, orElse: () => Effect.asVoid(sql.unsafe("PRAGMA foreign_keys = ON")) })

/**
 * Returns the rows that refer to missing rows. PostgreSQL accepts no such row, unless a test has removed the constraints.
 */
export const danglingRows = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => Effect.succeed<ReadonlyArray<unknown>>([]),
    orElse: () => Effect.map(sql`PRAGMA foreign_key_check`, (rows): ReadonlyArray<unknown> => rows)
  })

/** Returns the names of all svc tables. */
export const tableNames = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql.onDialectOrElse({
      pg: () => sql<{ name: string }>`SELECT CAST(tablename AS TEXT) AS name FROM pg_tables
        WHERE schemaname = current_schema() ORDER BY 1`,
      orElse: () => sql<{ name: string }>`SELECT name FROM sqlite_schema
        WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
    }),
    (rows) => rows.map(({ name }) => name)
  )

/** The names of the tables with a foreign key to this table. */
export const tablesReferringTo = (sql: SqlClient.SqlClient, table: string) =>
  Effect.map(
    sql.onDialectOrElse({
      pg: () => sql<{ name: string }>`SELECT DISTINCT CAST(conrelid AS regclass)::text AS name FROM pg_constraint
        WHERE contype = 'f' AND confrelid = CAST(${table} AS regclass) ORDER BY 1`,
      orElse: () => sql<{
        name: string
      }>`SELECT DISTINCT t.name FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) k
        WHERE t.type = 'table' AND k."table" = ${table} ORDER BY 1`
    }),
    (rows) => rows.map(({ name }) => name)
  )

const define = (sql: SqlClient.SqlClient, statement: string) =>
  sql.onDialectOrElse({
    pg: () =>
      Effect.forEach(
        postgresStatements(newestKnown, [statement.replaceAll("SELECT RAISE(IGNORE)", "RETURN NULL")]),
        (part) => sql.unsafe(part).unprepared,
        { discard: true }
      ),
    orElse: () => Effect.asVoid(sql.unsafe(statement).unprepared)
  })

/** Creates a table that a test writes in SQLite's form. */
export const createTable = (sql: SqlClient.SqlClient, statement: string) => define(sql, statement)

/**
 * Creates a trigger that a test writes in SQLite's form. `SELECT RAISE(IGNORE)` leaves the row out. In PostgreSQL, `WHEN` must not
 * contain a query.
 */
export const createTrigger = (sql: SqlClient.SqlClient, statement: string) => define(sql, statement)

/** Drops a trigger of `createTrigger`. */
export const dropTrigger = (sql: SqlClient.SqlClient, name: string) =>
  Effect.asVoid(
    sql.onDialectOrElse({
      pg: () => sql.unsafe(`DROP FUNCTION ${name}() CASCADE`),
      orElse: () => sql.unsafe(`DROP TRIGGER ${name}`)
    })
  )

/** An expression for the JSON document in a column with the member at a path, such as `$.tool.version`, replaced. */
export const withMember = (sql: SqlClient.SqlClient, column: string, path: string, value: Schema.Json) =>
  sql.onDialectOrElse({
    pg: () =>
      sql`CAST(jsonb_set(CAST(${sql(column)} AS jsonb), string_to_array(substr(${path}, 3), '.'),
        CAST(${JSON.stringify(value)} AS jsonb)) AS text)`,
    // The comment marks a statement of tests, so that PostgreSQL does not have to prepare it.
    orElse: () => sql`json_set(${sql(column)}, ${path}, json(${JSON.stringify(value)} /* written only for SQLite */))`
  })

/** An expression for the JSON document in a column without the member at a path. */
export const withoutMember = (sql: SqlClient.SqlClient, column: string, path: string) =>
  sql.onDialectOrElse({
    pg: () => sql`CAST(CAST(${sql(column)} AS jsonb) #- string_to_array(substr(${path}, 3), '.') AS text)`,
    // The comment has the reason of the comment in `withMember`.
    orElse: () => sql`json_remove(${sql(column)}, ${path} /* written only for SQLite */)`
  })

/** An expression for an integer with leading zeros. */
export const padded = (sql: SqlClient.SqlClient, integer: string, digits: number) =>
  sql.literal(
    sql.onDialectOrElse({
      pg: () => `lpad(CAST(${integer} AS TEXT), ${digits}, '0')`,
      orElse: () => `printf('%0${digits}d', ${integer})`
    })
  )
