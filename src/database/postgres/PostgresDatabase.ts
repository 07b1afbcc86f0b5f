import { createHash } from "node:crypto"
import { Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { DatabaseFile } from "../../../actors/base/database/DatabaseFile.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"
import { SharedDatabase } from "../../../actors/base/node/Nodes.ts"
import { DataFolder } from "../DataFolder.ts"
import { embeddedOnly } from "../../settings/EmbeddedOnly.ts"
import { checkInstallation, settleInstallation } from "../FirstStart.ts"
import { migrateFrom, newestKnown } from "../Migrations.ts"
import { recordedVersion } from "../move/MoveMarks.ts"
import { storageSpace } from "../StorageSpace.ts"
import { announcingTriggers } from "./Notifications.ts"
import { layerClients } from "./PostgresClient.ts"
import { dialectFunctions, postgresStatements } from "./SchemaDialect.ts"

/**
 * Raised if the server or the database is not suitable, or if a server of an earlier release uses the database exclusively.
 */
export class DatabaseUnsuitable extends Schema.TaggedError<DatabaseUnsuitable>()("DatabaseUnsuitable", {
  message: Schema.String
}) {}

const oldestVersion = 150000

const Server = rowShape({
  version: Schema.Int,
  named: Schema.String,
  encoding: Schema.String,
  provider: Schema.String,
  collation: Schema.String
})

/** Collations that compare text byte by byte. SQLite compares text in this way, and every list relies on this order. */
const byteOrders = /^(?:C|POSIX|C\.utf-?8)$/i

const checkServer = Effect.gen(function* () {
  const sql = yield* ReadSql
  const [server] = yield* Server.rowsOnce(sql)`SELECT CAST(current_setting('server_version_num') AS INTEGER) AS version,
      current_setting('server_version') AS named, pg_encoding_to_char(encoding) AS encoding,
      CAST(datlocprovider AS TEXT) AS provider, COALESCE(datcollate, '') AS collation
    FROM pg_database WHERE datname = current_database()`
  if (server === undefined) return yield* new DatabaseUnsuitable({ message: "The database does not describe itself." })
  if (server.version < oldestVersion) {
    return yield* new DatabaseUnsuitable({ message: `PostgreSQL ${server.named} is too old. svc needs 15 or newer.` })
  }
  const isOrdered = server.provider !== "i" && (server.provider === "b" || byteOrders.test(server.collation))
  if (server.encoding !== "UTF8" || !isOrdered) {
    return yield* new DatabaseUnsuitable({
      message: `The database has the encoding ${server.encoding} and the collation ${server.collation}. svc needs the encoding UTF8 and the collation C: CREATE DATABASE svc TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'.`
    })
  }
})

const Recorded = rowShape({ is_recorded: Schema.Int })
const Fingerprint = rowShape({ fingerprint: Schema.NullOr(Schema.String) })

/**
 * Runs statements that replace functions, unless this release has already run them. A comment on one of the functions contains
 * their digest.
 */
const replaced = Effect.fnUntraced(function* (signature: string, statements: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const digest = createHash("sha256").update(statements.join("\n")).digest("hex")
  yield* sql.withTransaction(
    Effect.gen(function* () {
      // A server of the earlier release may start during an upgrade. It must not put its functions back.
      const [recorded] = yield* Recorded.rowsOnce(
        sql
      )`SELECT CASE WHEN to_regclass('svc_migrations') IS NULL THEN 0 ELSE 1 END AS is_recorded`
      if (recorded?.is_recorded === 1 && ((yield* recordedVersion) ?? 0) > newestKnown) return
      const [known] = yield* Fingerprint.rowsOnce(sql)`
        SELECT obj_description(to_regprocedure(${signature}), 'pg_proc') AS fingerprint`
      if (known?.fingerprint === digest) return
      for (const statement of [...statements, `COMMENT ON FUNCTION ${signature} IS '${digest}'`]) {
        yield* sql.unsafe(statement).unprepared
      }
    })
  )
})

/**
 * Creates functions, tables and triggers. The write lock makes it safe for several processes to do this at the same time.
 */
const migrateDatabase = Effect.gen(function* () {
  yield* replaced("svc_json(text)", dialectFunctions)
  yield* migrateFrom(postgresStatements)
  yield* replaced("svc_announce_event()", announcingTriggers)
})

/** Migrates the database. Servers may use the database at the same time. */
export const migratePostgres = (url: Redacted.Redacted) =>
  Effect.andThen(checkServer, migrateDatabase).pipe(
    Effect.provide(layerClients(url, { exclusive: false, listens: false }))
  )

const refused = Effect.suspend(() =>
  Effect.fail(
    new SqlError({
      reason: new UnknownError({ cause: new Error(embeddedOnly), message: embeddedOnly, operation: "file" })
    })
  )
)

/** The server has no database file, so there is nothing to measure, shrink or write back. */
const noFile = DatabaseFile.of({
  backup: () => refused,
  checkpoint: Effect.succeed(true),
  pages: Effect.succeed({ total: 0, empty: 0 }),
  release: () => Effect.void,
  rebuild: refused,
  integrityCheck: refused
})

/** Fails if a server uses the database exclusively. */
const claim = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.mapError(sql.withTransaction(Effect.void), (error): DatabaseUnsuitable | SqlError =>
    error.reason._tag === "LockTimeoutError" ? new DatabaseUnsuitable({ message: error.reason.message }) : error
  )
)

/**
 * A migrated PostgreSQL database, with one writer and a pool of readers for this server. Other servers may use the database
 * at the same time, and each server is notified of commits by other servers. The data folder contains the master key and all
 * data that is not in the database. Fails if the database and the folder belong to different installations.
 */
export const layer = (url: Redacted.Redacted) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { path } = yield* DataFolder
      // Migrate before any listener uses the tables.
      yield* migratePostgres(url)
      const admitted = Layer.effectDiscard(
        Effect.gen(function* () {
          yield* checkInstallation(path)
          yield* claim
          yield* settleInstallation(path)
        })
      )
      return Layer.mergeAll(
        admitted,
        Layer.succeed(DatabaseFile, noFile),
        Layer.succeed(SharedDatabase, true),
        storageSpace(path)
      ).pipe(Layer.provideMerge(layerClients(url, { exclusive: false, listens: true })))
    })
  )
