import * as PgClient from "@effect/sql-pg/PgClient"
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { Context, Effect, Layer, Option, type Redacted, Semaphore, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type * as Connection from "effect/sql/SqlConnection"
import { ConnectionError, LockTimeoutError, SqlError } from "effect/sql/SqlError"
import { CommitCache } from "../../../actors/base/database/CommitCache.ts"
import { Commits, commitListeners } from "../../../actors/base/database/Commits.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { RemoteChanges } from "../../../actors/base/database/RemoteChanges.ts"
import { WithoutWriteLock } from "../../../actors/base/database/WriteLock.ts"
import { namedTransactions } from "../SqliteClient.ts"
import { withRememberedTexts } from "../StatementTexts.ts"
import { announceCommit, listenToOthers, remoteListeners } from "./Notifications.ts"
import { PostgresConnection, readsOnly } from "./PostgresConnection.ts"
import { sessionSettings } from "./SessionSettings.ts"
import { endSilentSessions } from "./SilentSessions.ts"
import { snapshotMemory } from "./SnapshotMemory.ts"

/**
 * Key of the lock that every write transaction takes. All releases use the same key, so that nodes of different releases
 * still write one at a time.
 */
const writeLock = "7598805541312070001"

/**
 * Key of the lock on the database that all servers hold in shared mode while their writing sessions are open. A command that
 * moves the database, or a server of a release that supports only one server, holds the lock exclusively.
 */
const nodeLock = "7598805541312070002"

export interface ClientOptions {
  /**
   * Claims the database exclusively, so that no server can use the database. Set by the command that moves a whole database.
   */
  readonly exclusive: boolean
  /**
   * If true, announces this server's commits to other servers, and listens for their announcements. False for a process that
   * only migrates.
   */
  readonly listens: boolean
}

/** Time limits for the sessions that write. */
export const SessionLimits = Context.Reference("svc/src/database/postgres/SessionLimits", {
  defaultValue: () => ({
    /**
     * Time after which the database ends a session that pauses inside a transaction, so that a frozen server cannot block
     * other servers.
     */
    idleInTransaction: "5s",
    /** Maximum time for which a writer waits for other writers. */
    lock: "20s"
  })
})

/** Maximum duration of a reader's transaction, which lasts as long as its slowest consumer. */
const idleInReading = "10min"
const readingSessions = 8
/** Sessions for statements that do not need the write lock. */
const unlockedSessions = 2
/** Sessions for transactions that do not need it. They are separate, because beats must not wait for the lines of Runs. */
const unlockedTransactions = 2

const spanAttributes = [["db.system.name", "postgresql"]] as const

const compiler = withRememberedTexts(PgClient.makeCompiler())

const failedCommit = () =>
  new SqlError({
    reason: new ConnectionError({
      cause: new Error("The database answered COMMIT with ROLLBACK."),
      message: "The database rolled the transaction back instead of committing it.",
      operation: "commit"
    })
  })

const isRolledBack = (result: unknown): boolean =>
  typeof result === "object" && result !== null && "command" in result && result.command === "ROLLBACK"

const otherUser = (exclusive: boolean) => {
  const message = exclusive
    ? "Servers use this database. Stop them first."
    : "A server of an earlier release or svc move uses this database alone. Stop it first."
  return new SqlError({ reason: new LockTimeoutError({ cause: new Error(message), message, operation: "begin" }) })
}

/**
 * Remembers the table version of this node's first transaction. A server of the next release may migrate the tables
 * meanwhile. PostgreSQL then refuses a prepared statement that returns all columns, which fails the whole transaction, so this
 * node prepares no statement from then on, until it is upgraded.
 */
const tableVersion = () => {
  let first: number | undefined
  let isFirst = true
  return {
    seen: (version: number) => {
      first ??= version
      isFirst &&= version === first
    },
    /** Called when another server has migrated the tables. */
    changed: () => {
      isFirst = false
    },
    isFirst: () => isFirst
  }
}
type TableVersion = ReturnType<typeof tableVersion>

/**
 * Begins a write transaction. Only one server at a time can have a write transaction. The first statement takes the lock, so
 * all data that the transaction reads is current.
 */
const beginWriting =
  ({ exclusive, listens }: ClientOptions, tables: TableVersion) =>
  (connection: Connection.Connection): Effect.Effect<void, SqlError> =>
    Effect.gen(function* () {
      yield* connection.execute("BEGIN", [], undefined)
      const shared = listens ? `pg_try_advisory_lock_shared(${nodeLock})` : "TRUE"
      const joined = exclusive ? `pg_try_advisory_lock(${nodeLock})` : shared
      // Other servers receive the announcement only if the transaction commits.
      const announced = listens ? `, ${announceCommit}, svc_table_version() AS version` : ""
      const [row] = yield* connection.execute(
        `SELECT pg_advisory_xact_lock(${writeLock}), ${joined} AS joined${announced}`,
        [],
        undefined
      )
      if (typeof row?.version === "number") tables.seen(row.version)
      if (row?.joined === 1) return
      yield* Effect.ignore(connection.execute("ROLLBACK", [], undefined))
      return yield* otherUser(exclusive)
    }).pipe(Effect.onInterrupt(() => Effect.ignore(connection.execute("ROLLBACK", [], undefined))))

/**
 * Returns the effect that takes the server's lock in a session that writes without the write lock, once in each session. Without
 * it, a server that was frozen while the database was moved could still write.
 */
const joining = ({ listens }: ClientOptions) => {
  const joined = new WeakSet<PgConnection.PgConnection>()
  return (session: PgConnection.PgConnection) =>
    Effect.suspend(() => {
      if (!listens || joined.has(session)) return Effect.void
      const locked = session.query(`SELECT pg_try_advisory_lock_shared(${nodeLock}) AS joined`, [], false)
      return Effect.flatMap(locked, ({ rows: [row] }) => {
        if (row?.joined !== 1) return Effect.fail(otherUser(false))
        joined.add(session)
        return Effect.void
      })
    })
}

/**
 * Commits. PostgreSQL responds to the `COMMIT` of a failed transaction with `ROLLBACK`, which this function treats as a
 * failure.
 */
const commitChecked = (connection: Connection.Connection): Effect.Effect<void, SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    isRolledBack(result) ? Effect.fail(failedCommit()) : Effect.void
  )

/** Replaces how the client runs transactions. */
const withTransactions = (
  sql: SqlClient.SqlClient,
  withTransaction: SqlClient.SqlClient["withTransaction"]
): SqlClient.SqlClient =>
  new Proxy(sql, {
    get: (target, key, receiver) => (key === "withTransaction" ? withTransaction : Reflect.get(target, key, receiver))
  })

/** Begins a read transaction, which reads a single state of the database. */
const beginReading = (connection: Connection.Connection) =>
  Effect.asVoid(connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", [], undefined))

interface TransactionParts {
  readonly acquirer: Connection.Acquirer
  readonly begin: (connection: Connection.Connection) => Effect.Effect<void, SqlError>
  readonly commit: (connection: Connection.Connection) => Effect.Effect<void, SqlError>
}

const control = (connection: Connection.Connection, sql: string) =>
  Effect.asVoid(connection.execute(sql, [], undefined))

const transactionsOf = (
  transactionService: SqlClient.SqlClient["transactionService"],
  { acquirer, begin, commit }: TransactionParts
) =>
  SqlClient.makeWithTransaction<SqlClient.TransactionConnection, Connection.Connection>({
    transactionService,
    spanAttributes,
    acquireConnection: (restore) => restore(acquirer),
    begin,
    savepoint: (connection, id) => control(connection, `SAVEPOINT s${id}`),
    releaseSavepoint: (connection, id) => control(connection, `RELEASE SAVEPOINT s${id}`),
    commit,
    // If a session cannot roll back, it is closed, and the PostgreSQL server rolls the transaction back.
    rollback: (connection) => Effect.ignore(control(connection, "ROLLBACK")),
    rollbackSavepoint: (connection, id) => control(connection, `ROLLBACK TO SAVEPOINT s${id}`)
  })

/** True inside a transaction without the write lock. */
const WithinUnlocked = Context.Reference<boolean>("svc/src/database/postgres/WithinUnlocked", {
  defaultValue: () => false
})

/**
 * Creates a client whose transactions begin with several statements. `unlocked` begins the transactions of `withoutWriteLock`.
 */
const makeClient = Effect.fnUntraced(function* (
  locked: TransactionParts,
  aloneOf: (client: SqlClient.SqlClient) => Connection.Connection,
  unlocked?: TransactionParts
) {
  const { acquirer } = locked
  const lazily = (): Connection.Connection => lone
  const base = yield* SqlClient.make({
    acquirer: Effect.sync(lazily),
    borrower: (use) => use(lazily()),
    transactionAcquirer: acquirer,
    compiler,
    driver: "pg",
    spanAttributes
  })
  const inLocked = transactionsOf(base.transactionService, locked)
  const inUnlocked = unlocked === undefined ? inLocked : transactionsOf(base.transactionService, unlocked)
  const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
    Effect.contextWith((context: Context.Context<never>) => {
      const isNested = context.mapUnsafe.has(base.transactionService.key)
      // A nested transaction must be of the same kind as the outer one.
      if (!Context.get(context, isNested ? WithinUnlocked : WithoutWriteLock)) return inLocked(effect)
      // Statements that run after the commit need the lock again.
      const inner = Effect.provideService(Effect.provideService(effect, WithoutWriteLock, false), WithinUnlocked, true)
      return inUnlocked(inner)
    })
  const client = withTransactions(base, withTransaction)
  const lone = aloneOf(client)
  return client
})

/** Lets each statement's text decide which connection runs it. */
const chosen = (
  use: <A>(
    sql: string,
    run: (connection: Connection.Connection) => Effect.Effect<A, SqlError>
  ) => Effect.Effect<A, SqlError>,
  stream: Connection.Connection["executeStream"]
): Connection.Connection => ({
  execute: (sql, params, transform) => use(sql, (connection) => connection.execute(sql, params, transform)),
  executeUnprepared: (sql, params, transform) =>
    use(sql, (connection) => connection.executeUnprepared(sql, params, transform)),
  executeRaw: (sql, params) => use(sql, (connection) => connection.executeRaw(sql, params)),
  executeValues: (sql, params) => use(sql, (connection) => connection.executeValues(sql, params)),
  executeValuesUnprepared: (sql, params) => use(sql, (connection) => connection.executeValuesUnprepared(sql, params)),
  executeStream: stream
})

/** Creates the writing client and the reading client of one database. */
const makeClients = Effect.fn("PostgresClient.make")(function* (url: Redacted.Redacted, options: ClientOptions) {
  const limits = yield* SessionLimits
  const sessionOf = yield* sessionSettings(url, options.listens)
  const readers = yield* PgPool.make({
    ...sessionOf({ idle_in_transaction_session_timeout: idleInReading, default_transaction_read_only: "on" }),
    maxConnections: readingSessions
  })
  const writers = yield* PgPool.make({
    ...sessionOf(
      options.exclusive || options.listens
        ? { idle_in_transaction_session_timeout: limits.idleInTransaction, lock_timeout: limits.lock }
        : {}
    ),
    maxConnections: 1,
    // Keep the session open while it is idle, because it holds the server's lock.
    idleTimeout: "365 days"
  })
  const others = yield* PgPool.make({
    ...sessionOf({ lock_timeout: limits.lock }),
    maxConnections: unlockedSessions
  })
  const unlockedWriters = yield* PgPool.make({
    ...sessionOf({ idle_in_transaction_session_timeout: limits.idleInTransaction, lock_timeout: limits.lock }),
    maxConnections: unlockedTransactions
  })
  const { before, commits, committed } = commitListeners()
  const tables = tableVersion()
  const prepares = tables.isFirst
  const join = joining(options)

  const read = <A>(_: string, run: (connection: Connection.Connection) => Effect.Effect<A, SqlError>) =>
    readers.use((session) => run(new PostgresConnection(session, { prepares })))
  const readStream: Connection.Connection["executeStream"] = (sql, params, transform) =>
    Stream.unwrap(
      Effect.map(readers.get, (session) =>
        new PostgresConnection(session, { prepares }).executeStream(sql, params, transform)
      )
    )

  const reading = yield* makeClient(
    {
      acquirer: Effect.map(readers.reserve, (session) => new PostgresConnection(session, { prepares })),
      begin: beginReading,
      commit: commitChecked
    },
    () => chosen(read, readStream)
  )
  const watch = yield* endSilentSessions({ sql: reading, after: limits.idleInTransaction })

  // Each node has one writing session, just as the embedded database has one writer. A transaction waits for its turn before
  // it takes the session, so that the time spent waiting inside this node is not counted as waiting for the database.
  const turn = yield* Semaphore.make(1)
  let ownProcessId = 0
  const commitAnnounced = (connection: Connection.Connection) =>
    Effect.tap(commitChecked(connection), () =>
      Effect.sync(() => {
        if (connection instanceof PostgresConnection && connection.hasWritten) committed()
      })
    )
  const writing = yield* makeClient(
    {
      acquirer: Effect.andThen(
        turn.takeScoped(1),
        Effect.map(writers.reserve, (session) => {
          ownProcessId = session.processId
          return new PostgresConnection(session, { before, prepares, watch })
        })
      ),
      begin: beginWriting(options, tables),
      commit: commitAnnounced
    },
    // Read-only statements do not wait for the writer.
    (client) => {
      const inTransaction = <A>(run: (connection: Connection.Connection) => Effect.Effect<A, SqlError>) =>
        Effect.flatMap(
          Effect.serviceOption(client.transactionService),
          Option.match({ onNone: () => Effect.die(new Error("The transaction is gone")), onSome: ([own]) => run(own) })
        )
      // These statements do not wait for this server's writer, so they run in separate sessions.
      const unlocked = <A>(run: (connection: Connection.Connection) => Effect.Effect<A, SqlError>) =>
        Effect.tap(
          others.use((session) =>
            Effect.andThen(join(session), run(new PostgresConnection(session, { prepares, watch })))
          ),
          () => Effect.sync(committed)
        )
      return chosen(
        (sql, run) =>
          readsOnly(sql)
            ? read(sql, run)
            : Effect.flatMap(WithoutWriteLock, (isUnlocked) =>
                isUnlocked ? unlocked(run) : client.withTransaction(inTransaction(run))
              ),
        readStream
      )
    },
    {
      acquirer: Effect.map(
        Effect.tap(unlockedWriters.reserve, join),
        (session) => new PostgresConnection(session, { prepares, watch })
      ),
      begin: (connection) => control(connection, "BEGIN"),
      commit: commitAnnounced
    }
  )
  const cache = yield* snapshotMemory(reading, commits)
  const { changes, report } = remoteListeners()
  if (options.listens) {
    const isOwn = (processId: number) => processId === ownProcessId
    yield* listenToOthers({
      session: sessionOf(),
      reading,
      report,
      committed,
      isOwn,
      migrated: tables.changed,
      tablesSeen: tables.seen
    })
  }
  return Context.make(SqlClient.SqlClient, namedTransactions(writing)).pipe(
    Context.add(ReadSql, reading),
    Context.add(Commits, commits),
    Context.add(CommitCache, cache),
    Context.add(RemoteChanges, changes)
  )
})

/** Opens the sessions of one node: one writer and a pool of readers. */
export const layerClients = (url: Redacted.Redacted, options: ClientOptions) =>
  Layer.effectContext(makeClients(url, options)).pipe(Layer.provide(Reactivity.layer))
