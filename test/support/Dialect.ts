import type { SqlClient } from "effect/sql"

/** Lets a test store rows whose parents are missing. Lasts as long as the test's database. */
export const withoutForeignKeys = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () =>
      sql.unsafe(`DO $$ DECLARE found record; BEGIN
        FOR found IN SELECT conname, conrelid::regclass AS owner FROM pg_constraint WHERE contype = 'f' LOOP
          EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.owner, found.conname);
        END LOOP; END $$`),
    orElse: () => sql.unsafe("PRAGMA foreign_keys = OFF")
  })
