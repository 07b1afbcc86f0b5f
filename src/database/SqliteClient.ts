import { backup, DatabaseSync } from "node:sqlite"
import { Context, Effect, Layer, Option, Pool, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, Statement } from "effect/sql"
import { Commits, commitListeners } from "../../actors/base/database/Commits.ts"
import { CommitCache } from "../../actors/base/database/CommitCache.ts"
import { ReadSnapshot } from "../../actors/base/database/ReadSnapshot.ts"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { DatabaseFile } from "../../actors/base/database/DatabaseFile.ts"
import { createPrivateFile } from "./PrivateFile.ts"
import { sharedReads } from "./SharedReads.ts"
import { SqliteConnection, sqliteFailure } from "./SqliteConnection.ts"
import { withRememberedTexts } from "./StatementTexts.ts"
import { TransactionKey } from "../../runner/thread/OutsideTransaction.ts"

/** Makes transactions detectable by code that does not have this client. See `outsideTransaction`. */
export const namedTransactions = (sql: SqlClient.SqlClient): SqlClient.SqlClient => {
  const { transactionService } = sql
  const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
    sql.withTransaction(Effect.provideService(effect, TransactionKey, transactionService))
  return new Proxy(sql, {
    get: (target, key, receiver) => (key === "withTransaction" ? withTransaction : Reflect.get(target, key, receiver))
  })
}

// Time to wait for another process's lock. The other process can only be an operator's command, so waiting is better than
// failing.
const busyTimeoutMillis = 5000
const maxReadCursors = 16
// Number of pages to copy per step. The value copies all pages in one step, from one snapshot. A copy in several steps
// starts again whenever another process writes, and might never finish.
const allPages = 2 ** 31 - 1

const spanAttributes = [["db.system.name", "sqlite"]] as const

const quote = Statement.defaultEscape('"')
const known = new Map<string, string>()

/**
 * Quotes an identifier. Caches the results, because quoting takes two regular expressions. Identifiers come only from the code,
 * so the cache is bounded.
 */
const quoted = (name: string): string => {
  const found = known.get(name)
  if (found !== undefined) return found
  const text = quote(name)
  known.set(name, text)
  return text
}

/**
 * Binds values as `+?`. For some statements, such as joins, SQLite uses the values bound to a bare `?` to choose a query
 * plan. In that case it prepares the statement again for every execution, which takes longer than the execution itself
 * (decision 0022).
 */
const compiler = withRememberedTexts(
  Statement.makeCompiler({
    dialect: "sqlite",
    placeholder: () => "+?",
    onIdentifier: quoted,
    onRecordUpdate: () => ["", []],
    onCustom: () => ["", []]
  })
)

const open = (filename: string, options: { readonly readOnly: boolean }) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        // Create the file with its mode first, because SQLite creates the -wal and -shm files with the same mode.
        if (!options.readOnly) createPrivateFile(filename)
        const database = new DatabaseSync(filename, { readOnly: options.readOnly, timeout: busyTimeoutMillis })
        if (!options.readOnly) {
          // Set this mode only for a new file, because it would write to an existing file. `svc compact` converts files from
          // earlier releases.
          if (database.prepare("PRAGMA page_count").get()?.["page_count"] === 0) {
            database.exec("PRAGMA auto_vacuum=INCREMENTAL")
          }
          database.exec("PRAGMA journal_mode=WAL")
        }
        // Set secure_delete, so that SQLite overwrites deleted data and no private values remain in free pages.
        database.exec("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON")
        return database
      },
      catch: sqliteFailure("open")
    }),
    (database) =>
      Effect.andThen(
        // Ignore a failure, because it means that another process is writing. The next process that closes the file tries
        // again.
        Effect.ignore(Effect.try(() => (options.readOnly ? undefined : database.exec("PRAGMA optimize")))),
        Effect.sync(() => database.close())
      )
  )

const makeDatabaseFile = (database: DatabaseSync, writing: Semaphore.Semaphore) =>
  DatabaseFile.of({
    backup: Effect.fn("DatabaseFile.backup")((file: string) =>
      Effect.asVoid(
        Effect.tryPromise({ try: () => backup(database, file, { rate: allPages }), catch: sqliteFailure("backup") })
      )
    ),
    checkpoint: writing.withPermit(
      Effect.try({
        try: () => {
          // Do not wait, because waiting would block this process while another process, such as `svc backup`, reads the
          // file.
          database.exec("PRAGMA busy_timeout=0")
          try {
            return database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] === 0
          } finally {
            database.exec(`PRAGMA busy_timeout=${busyTimeoutMillis}`)
          }
        },
        catch: sqliteFailure("checkpoint")
      })
    ),
    pages: Effect.try({
      try: () => ({
        total: Number(database.prepare("PRAGMA page_count").get()?.["page_count"]),
        empty: Number(database.prepare("PRAGMA freelist_count").get()?.["freelist_count"])
      }),
      catch: sqliteFailure("measure")
    }),
    release: (pages) =>
      writing.withPermit(
        Effect.try({
          try: () => database.exec(`PRAGMA incremental_vacuum(${pages})`),
          catch: sqliteFailure("release space of")
        })
      ),
    rebuild: writing.withPermit(
      Effect.try({
        try: () => database.exec("PRAGMA auto_vacuum=INCREMENTAL; VACUUM"),
        catch: sqliteFailure("rebuild")
      })
    ),
    integrityCheck: writing.withPermit(
      Effect.try({
        try: () => {
          const findings = database
            .prepare("PRAGMA integrity_check")
            .all()
            .map((row) => String(row["integrity_check"]))
          const dangling = database.prepare("PRAGMA foreign_key_check").all()
          return [
            ...findings.filter((line) => line !== "ok"),
            ...dangling.map((row) => `A row of ${row["table"]} refers to a missing row of ${row["parent"]}.`)
          ]
        },
        catch: sqliteFailure("check")
      })
    )
  })

const makeWriter = Effect.fn("SqliteClient.writer")(function* (filename: string) {
  const database = yield* open(filename, { readOnly: false })
  const { before, commits, committed } = commitListeners()
  const connection = new SqliteConnection(database, { before, committed })
  const writing = yield* Semaphore.make(1)
  const client = yield* SqlClient.make({
    ...SqlClient.makeSqliteAcquirers({
      connection: Effect.succeed(connection),
      semaphore: writing,
      isTransaction: () => connection.inTransaction
    }),
    compiler,
    driver: "svc-sqlite",
    prepareTransactionControls: true,
    // Lock immediately. A deferred BEGIN could fail in the middle of a transaction if another connection wrote first.
    beginTransaction: "BEGIN IMMEDIATE",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes
  })
  return Context.make(SqlClient.SqlClient, namedTransactions(client)).pipe(
    Context.add(DatabaseFile, makeDatabaseFile(database, writing)),
    Context.add(Commits, commits)
  )
})

const makeReader = Effect.fn("SqliteClient.reader")(function* (filename: string) {
  const reading = yield* open(filename, { readOnly: true })
  // A process without a writer never commits, so it does not provide `Commits`.
  const commits = Option.getOrUndefined(yield* Effect.serviceOption(Commits))
  const { before, memory, snapshot } = yield* Effect.acquireRelease(
    Effect.sync(() => sharedReads(reading, commits)),
    (reads) => Effect.sync(reads.close)
  )
  const shared = new SqliteConnection(reading, { before })
  // Give each cursor or read transaction a separate connection, because the cursor or transaction lasts as long as its
  // slowest consumer.
  const leased = yield* Pool.makeWithTTL({
    acquire: Effect.map(open(filename, { readOnly: true }), (database) => new SqliteConnection(database)),
    min: 0,
    max: maxReadCursors,
    timeToLive: "1 minute"
  })
  const client = yield* SqlClient.make({
    acquirer: Pool.get(leased),
    borrower: (use) => use(shared),
    compiler,
    driver: "svc-sqlite",
    isTransaction: (connection) => connection instanceof SqliteConnection && connection.inTransaction,
    spanAttributes
  })
  return Context.make(ReadSql, client).pipe(Context.add(CommitCache, memory), Context.add(ReadSnapshot, snapshot))
})

/** Opens the write connection to a database file, in WAL mode with synchronous FULL, and provides the operations on the file. */
export const layerWriter = (filename: string) =>
  Layer.effectContext(makeWriter(filename)).pipe(Layer.provide(Reactivity.layer))

/**
 * Provides read-only operations on a WAL mode file that another process may be writing to. The operations never wait for a
 * writer.
 */
export const layerCopying = (filename: string) =>
  Layer.effect(
    DatabaseFile,
    Effect.gen(function* () {
      return makeDatabaseFile(yield* open(filename, { readOnly: true }), yield* Semaphore.make(1))
    })
  )

/** Opens read-only connections to an existing file in WAL mode. */
export const layerReader = (filename: string) =>
  Layer.effectContext(makeReader(filename)).pipe(Layer.provide(Reactivity.layer))
