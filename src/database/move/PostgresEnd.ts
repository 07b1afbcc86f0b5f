import { Context, Effect, Layer, Redacted, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../../../actors/base/database/Table.ts"
import { DataFolder } from "../DataFolder.ts"
import { checkInstallation } from "../FirstStart.ts"
import { hasTable } from "../Installation.ts"
import { layerClients, SessionLimits } from "../postgres/PostgresClient.ts"
import { migratePostgres } from "../postgres/PostgresDatabase.ts"
import type { MoveSource, MoveTarget } from "./DatabaseMove.ts"
import { type DatabasePlace, readMark } from "./MoveMarks.ts"
import { MoveRefused, refusing } from "./MoveRefused.ts"

/** The server and the name of the database, without user and password. */
export const placeOf = (url: Redacted.Redacted): DatabasePlace => {
  const { host, pathname, searchParams } = new URL(Redacted.value(url))
  return { kind: "postgres", text: `${host || searchParams.get("host") || "localhost"}${pathname}` }
}

/**
 * Sets no limit on how long the move's transaction may be idle, because the other database may be busy for a long time.
 */
const limits = Layer.succeed(SessionLimits, { idleInTransaction: "0", lock: "20s" })

const openDatabase = (url: Redacted.Redacted, exclusive: boolean) =>
  Effect.map(
    Layer.build(layerClients(url, { exclusive, listens: false }).pipe(Layer.provide(limits))),
    Context.get(SqlClient.SqlClient)
  )

const on = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, SqlClient.SqlClient, sql)

const Count = rowShape({ count: Schema.Int })

/**
 * Fails if a server has a session. Ignores this process's own session, its only one. Waits for a second, because PostgreSQL ends
 * the sessions of a server a moment after the server has ended.
 */
const checkSessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Count.rowsOnce(sql)`SELECT COUNT(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'svc %' AND pid <> pg_backend_pid()`
  if (row === undefined || row.count === 0) return
  return yield* new MoveRefused({ message: "Servers use the database. Stop every server, and repeat the move." })
}).pipe(
  Effect.retry({ while: ({ _tag }) => _tag === "MoveRefused", schedule: Schedule.spaced("100 millis"), times: 10 })
)

/**
 * Makes every table reject writes. Otherwise a server that was frozen before the move, or a release that does not support
 * marks, could write to a database that is no longer current.
 */
const refuseWrites = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`CREATE OR REPLACE FUNCTION svc_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'This database was moved by svc move, and is no longer the current one.'; END $$`).unprepared
  yield* sql.unsafe(`DO $$ DECLARE found text; BEGIN
    FOR found IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'svc_migrations' LOOP
      EXECUTE format('CREATE TRIGGER svc_moved BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I
        FOR EACH STATEMENT EXECUTE FUNCTION svc_moved()', found);
    END LOOP; END $$`).unprepared
})

/** The PostgreSQL database of this data folder's installation, as the source of a move. */
export const postgresSource = (url: Redacted.Redacted) =>
  Effect.map(
    DataFolder,
    (folder): MoveSource => ({
      place: placeOf(url),
      open: openDatabase(url, true),
      check: refusing(
        Effect.gen(function* () {
          yield* checkSessions
          if (!(yield* hasTable(yield* SqlClient.SqlClient, "svc_migrations"))) {
            return yield* new MoveRefused({ message: `${placeOf(url).text} contains no database of svc.` })
          }
          yield* checkInstallation(folder.path)
        })
      ),
      close: refuseWrites
    })
  )

const Tables = rowShape({ name: Schema.String })

const requireNoTables = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [table] = yield* Tables.rowsOnce(sql)`SELECT CAST(tablename AS TEXT) AS name FROM pg_tables
    WHERE schemaname = current_schema() LIMIT 1`
  if (table === undefined) return
  return yield* new MoveRefused({
    message: `The new database has a table ${table.name}, which is not of svc. Create an empty database.`
  })
})

/** A PostgreSQL database as the target of a move. */
export const postgresTarget = (url: Redacted.Redacted): MoveTarget => ({
  place: placeOf(url),
  open: () =>
    refusing(
      Effect.gen(function* () {
        const sql = yield* openDatabase(url, true)
        const isMigrated = yield* hasTable(sql, "svc_migrations")
        if (!isMigrated) yield* requireNoTables(sql)
        const mark = isMigrated ? yield* on(sql, readMark) : undefined
        // A marked database already has all tables, so the migration would refuse it.
        if (mark === undefined) yield* migratePostgres(url)
        return sql
      })
    ),
  // Nothing to check: the foreign keys were already checked when they were added again.
  check: Effect.void,
  settle: openDatabase(url, false)
})
