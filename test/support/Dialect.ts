import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

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

/** Rows that refer to missing rows. PostgreSQL accepts no such row, unless a test has removed the constraints. */
export const danglingRows = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => Effect.succeed<ReadonlyArray<unknown>>([]),
    orElse: () => Effect.map(sql`PRAGMA foreign_key_check`, (rows): ReadonlyArray<unknown> => rows)
  })

/** The names of all svc tables. */
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
