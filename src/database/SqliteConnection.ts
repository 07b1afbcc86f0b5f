import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { Array as Arr, Cause, Context, Effect, Stream } from "effect"
import { hasProperty } from "effect/Predicate"
import { SqlClient } from "effect/sql"
import type * as Connection from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"

const streamChunk = 256
const statementCacheSize = 256

/** Converts exceptions from node:sqlite, which have the result code in `errcode`, to errors of `effect/sql`. */
export const sqliteFailure = (operation: string) => (cause: unknown) => {
  const named =
    hasProperty(cause, "errcode") && typeof cause.errcode === "number" && cause instanceof Error
      ? Object.assign(new Error(cause.message, { cause }), { errno: cause.errcode })
      : cause
  return new SqlError({
    reason: classifySqliteError(named, { message: `The database refused to ${operation}.`, operation })
  })
}

const toBinding = (value: unknown): SQLInputValue => {
  if (value === null || typeof value === "number" || typeof value === "bigint" || typeof value === "string")
    return value
  if (value === undefined) return null
  if (typeof value === "boolean") return value ? 1 : 0
  if (value instanceof Uint8Array) return value
  if (value instanceof Date) return value.toISOString()
  throw new TypeError(`A ${typeof value} cannot be bound to an SQL parameter; encode it first.`)
}

const nextChunk = <A>(iterator: Iterator<A>): ReadonlyArray<A> => {
  const rows: Array<A> = []
  while (rows.length < streamChunk) {
    const next = iterator.next()
    if (next.done === true) break
    rows.push(next.value)
  }
  return rows
}

// Matches statements that only read. All other statements are treated as writes, because even a statement that begins with
// `WITH` may be an INSERT.
const readsOnly = /^\s*(?:SELECT|EXPLAIN|PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i

interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
  /** True if the statement changes no rows. */
  readonly reads: boolean
  /** True if the statement was used since the last eviction. */
  wasUsed: boolean
  /** Current mode of the statement, cached because setting it on each use would cost a call into SQLite. */
  asBigInts: boolean
  asArrays: boolean
}

/** Functions that run before and after a connection's statements. */
export interface ConnectionHooks {
  /** Called before each statement. */
  readonly before?: () => void
  /** Called after a commit, except after a transaction that has not written anything. */
  readonly committed?: () => void
}

/** A node:sqlite connection. Its calls are synchronous, so individual statements never interleave. */
export class SqliteConnection implements Connection.Connection {
  // Prepared statements, oldest first, because a Map keeps insertion order. Used statements move to the end only during an
  // eviction.
  private readonly cache = new Map<string, Prepared>()
  private readonly database: DatabaseSync
  private readonly hooks: ConnectionHooks
  private hasWritten = false

  constructor(database: DatabaseSync, hooks: ConnectionHooks = {}) {
    this.database = database
    this.hooks = hooks
  }

  get inTransaction(): boolean {
    return this.database.isTransaction
  }

  private prepare(sql: string): Prepared {
    const statement = this.database.prepare(sql)
    return {
      statement,
      returnsRows: statement.columns().length > 0,
      wasUsed: false,
      asBigInts: false,
      asArrays: false,
      reads: readsOnly.test(sql)
    }
  }

  private prepareCached(sql: string): Prepared {
    const known = this.cache.get(sql)
    if (known !== undefined) {
      known.wasUsed = true
      return known
    }
    const prepared = this.prepare(sql)
    if (this.cache.size >= statementCacheSize) this.forgetUnused()
    this.cache.set(sql, prepared)
    return prepared
  }

  /**
   * Evicts the oldest statement that was not used since the last eviction. Terminates, because it marks every statement that it
   * passes as unused.
   */
  private forgetUnused() {
    for (const [sql, prepared] of this.cache) {
      this.cache.delete(sql)
      if (!prepared.wasUsed) return
      prepared.wasUsed = false
      this.cache.set(sql, prepared)
    }
  }

  private run<A>(
    { prepared, params, arrays }: { prepared: () => Prepared; params: ReadonlyArray<unknown>; arrays: boolean },
    read: (prepared: Prepared, bindings: Array<SQLInputValue>) => A
  ): Effect.Effect<A, SqlError> {
    return Effect.withFiber((fiber) =>
      Effect.try({
        try: () => {
          this.hooks.before?.()
          const it = prepared()
          const bigInts = Context.get(fiber.context, SqlClient.SafeIntegers)
          if (it.asBigInts !== bigInts) {
            it.statement.setReadBigInts(bigInts)
            it.asBigInts = bigInts
          }
          if (it.asArrays !== arrays) {
            it.statement.setReturnArrays(arrays)
            it.asArrays = arrays
          }
          const found = read(it, params.map(toBinding))
          this.hasWritten ||= !it.reads
          if (this.hasWritten && !this.database.isTransaction) {
            this.hasWritten = false
            this.hooks.committed?.()
          }
          return found
        },
        catch: sqliteFailure("execute")
      })
    )
  }

  private rows(prepared: () => Prepared, params: ReadonlyArray<unknown>) {
    return this.run({ prepared, params, arrays: false }, ({ statement, returnsRows }, bindings) => {
      if (returnsRows) return statement.all(...bindings)
      statement.run(...bindings)
      return []
    })
  }

  private values(prepared: () => Prepared, params: ReadonlyArray<unknown>) {
    return this.run({ prepared, params, arrays: true }, ({ statement, returnsRows }, bindings) => {
      if (returnsRows) return statement.all(...bindings).map((row) => Object.values(row))
      statement.run(...bindings)
      return []
    })
  }

  readonly execute: Connection.Connection["execute"] = (sql, params, transformRows) => {
    const rows = this.rows(() => this.prepareCached(sql), params)
    return transformRows === undefined ? rows : Effect.map(rows, transformRows)
  }

  readonly executeUnprepared: Connection.Connection["executeUnprepared"] = (sql, params, transformRows) => {
    const rows = this.rows(() => this.prepare(sql), params)
    return transformRows === undefined ? rows : Effect.map(rows, transformRows)
  }

  readonly executeRaw: Connection.Connection["executeRaw"] = (sql, params) =>
    this.run(
      { prepared: () => this.prepareCached(sql), params, arrays: false },
      ({ statement, returnsRows }, bindings) => (returnsRows ? statement.all(...bindings) : statement.run(...bindings))
    )

  readonly executeValues: Connection.Connection["executeValues"] = (sql, params) =>
    this.values(() => this.prepareCached(sql), params)

  readonly executeValuesUnprepared: Connection.Connection["executeValuesUnprepared"] = (sql, params) =>
    this.values(() => this.prepare(sql), params)

  readonly executeStream: Connection.Connection["executeStream"] = (sql, params, transformRows) => {
    // Use a separate statement, because the cached statement may run again while this cursor is open.
    const open = this.run({ prepared: () => this.prepare(sql), params, arrays: false }, ({ statement }, bindings) =>
      statement.iterate(...bindings)
    )
    const cursor = Effect.acquireRelease(open, (iterator) => Effect.sync(() => iterator.return?.()))
    return Stream.unwrap(
      Effect.map(cursor, (iterator) => {
        const next = Effect.try({
          try: () => {
            const rows = nextChunk(iterator)
            return transformRows === undefined ? rows : transformRows(rows)
          },
          catch: sqliteFailure("stream")
        })
        const pull = Effect.filterOrElse(next, Arr.isReadonlyArrayNonEmpty, () => Cause.done())
        return Stream.fromPull(Effect.succeed(pull))
      })
    )
  }
}
