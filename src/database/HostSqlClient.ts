import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Commits, commitListeners } from "../../actors/base/database/Commits.ts"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { DatabaseFile } from "../../actors/base/database/DatabaseFile.ts"
import { migrate } from "./Migrations.ts"
import { layerWriter, namedTransactions } from "./SqliteClient.ts"
import { Flag, rowShape } from "../../actors/base/database/Table.ts"
import { DanglingRow, IntegrityFinding } from "./IntegrityRows.ts"

/** Raised if the given `SqlClient` is not suitable for the ledger. */
export class SqlClientUnsuitable extends Schema.TaggedError<SqlClientUnsuitable>()("SqlClientUnsuitable", {
  message: Schema.String
}) {}

const ForeignKeys = rowShape({ foreign_keys: Flag })
const WalCheckpoint = rowShape({ busy: Flag, log: Schema.Int, checkpointed: Schema.Int })

const PageCount = rowShape({ page_count: Schema.Int })
const FreelistCount = rowShape({ freelist_count: Schema.Int })

const requireSqlite = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const dialect = sql.onDialectOrElse({ sqlite: () => "sqlite", orElse: () => "another dialect" })
  if (dialect !== "sqlite") {
    return yield* new SqlClientUnsuitable({
      message: `The SqlClient speaks ${dialect}. Give one for SQLite: the ledger's transactions rely on a single writer.`
    })
  }
  const rows = yield* ForeignKeys.rows(sql)`PRAGMA foreign_keys`
  if (rows[0]?.foreign_keys !== 1) {
    return yield* new SqlClientUnsuitable({
      message: "The SqlClient does not enforce foreign keys. Open its database with PRAGMA foreign_keys=ON."
    })
  }
  // Overwrite deleted private values, so that they do not remain in free pages.
  yield* sql`PRAGMA secure_delete=ON`
})

/** Performs the operations with SQL statements only, because an unknown client may not support anything else. */
const databaseFile = Effect.map(SqlClient.SqlClient, (sql) =>
  DatabaseFile.of({
    backup: Effect.fn("DatabaseFile.backup")((file: string) => Effect.asVoid(sql`VACUUM INTO ${file}`)),
    checkpoint: Effect.map(WalCheckpoint.rows(sql)`PRAGMA wal_checkpoint(TRUNCATE)`, ([row]) => row?.busy === 0),
    pages: Effect.gen(function* () {
      const [total] = yield* PageCount.rows(sql)`PRAGMA page_count`
      const [empty] = yield* FreelistCount.rows(sql)`PRAGMA freelist_count`
      return { total: total?.page_count ?? 0, empty: empty?.freelist_count ?? 0 }
    }),
    release: (pages: number) => Effect.asVoid(sql`PRAGMA incremental_vacuum(${sql.literal(String(pages))})`),
    rebuild: Effect.gen(function* () {
      yield* sql`PRAGMA auto_vacuum=INCREMENTAL`
      yield* sql`VACUUM`
    }),
    integrityCheck: Effect.gen(function* () {
      const findings = yield* IntegrityFinding.rows(sql)`PRAGMA integrity_check`
      const dangling = yield* DanglingRow.rows(sql)`PRAGMA foreign_key_check`
      return [
        ...findings.map((row) => row.integrity_check).filter((line) => line !== "ok"),
        ...dangling.map((row) => `A row of ${row.table} refers to a missing row of ${row.parent}.`)
      ]
    })
  })
)

// Polling interval. It is well below one second, the time within which a live stream must end after its authority is lost.
const lookEvery = "500 millis"

/** Regularly signals a commit, because an unknown client does not report its commits. */
const commits = Effect.gen(function* () {
  const { commits, committed } = commitListeners()
  yield* Effect.sync(committed).pipe(Effect.delay(lookEvery), Effect.forever, Effect.forkScoped)
  return commits
})

/**
 * Creates a `SqlClient` for one SQLite file, for a host application with its own tables in the same database. Uses
 * `node:sqlite` on Node and Bun, and enables WAL mode, `synchronous=FULL` and foreign keys. A new file has mode 0600.
 */
export const layerSqlite = ({ filename }: { readonly filename: string }): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  layerWriter(filename)

/**
 * Database services on top of a host application's own `SqlClient`. The client must use an SQLite database with foreign keys
 * enabled, and only svc may write to svc's tables in this database. WAL and `synchronous=FULL` are recommended. Migrates the
 * database to this release's schema. Reads and writes share the client's connection. Fails with `SqlClientUnsuitable` unless
 * the client uses SQLite with foreign keys enabled.
 */
export const layerFromSqlClient = Layer.mergeAll(
  Layer.effect(ReadSql, SqlClient.SqlClient),
  Layer.effect(DatabaseFile, databaseFile),
  Layer.effect(Commits, commits),
  Layer.effect(SqlClient.SqlClient, Effect.map(SqlClient.SqlClient, namedTransactions))
).pipe(Layer.provideMerge(Layer.effectDiscard(Effect.andThen(requireSqlite, migrate))))
