import { randomUUID } from "node:crypto"
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Effect, Result, Stream } from "effect"
import type * as Connection from "effect/sql/SqlConnection"
import { ConstraintError, SqlError } from "effect/sql/SqlError"
import type { ConnectionHooks } from "../SqliteConnection.ts"
import type { StatementWatch } from "./SilentSessions.ts"

const int64Bytes = 8

const unsupported = (name: string) =>
  Result.fail(new PgTypes.CodecError({ message: `${name} is only read, never bound` }))

const asNumber = (text: string): Result.Result<number, PgTypes.CodecError> => {
  const value = Number(text)
  return Number.isInteger(value) && !Number.isSafeInteger(value)
    ? Result.fail(new PgTypes.CodecError({ message: "An integer of the database does not fit a number" }))
    : Result.succeed(value)
}

/**
 * Converts integers, sums and booleans to numbers, as SQLite does. Like the embedded database, fails if a number cannot
 * represent an integer exactly.
 */
export const makeCodecs = (): PgTypes.Registry => {
  const registry = PgTypes.makeRegistry()
  registry.register(PgTypes.OID.int8, {
    encode: (value: bigint | number) => {
      const bytes = new Uint8Array(int64Bytes)
      new DataView(bytes.buffer).setBigInt64(0, BigInt(value))
      return Result.succeed(bytes)
    },
    decode: (bytes) => asNumber(String(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigInt64(0)))
  })
  registry.register(PgTypes.OID.numeric, {
    encode: () => unsupported("numeric"),
    decode: (bytes) => Result.flatMap(PgTypes.decode(bytes, PgTypes.OID.numeric, 1), (text) => asNumber(String(text)))
  })
  registry.register(PgTypes.OID.bool, {
    encode: () => unsupported("bool"),
    decode: (bytes) => Result.succeed(bytes[0] === 0 ? 0 : 1)
  })
  return registry
}

const nulFound = () =>
  new SqlError({
    reason: new ConstraintError({
      cause: new Error("A text contains the character U+0000."),
      message: "PostgreSQL cannot store a text with the character U+0000.",
      operation: "bind"
    })
  })

const toBinding = (value: unknown): unknown => {
  if (value === undefined) return null
  if (typeof value === "boolean") return value ? 1 : 0
  if (value instanceof Date) return value.toISOString()
  return value
}

// Matches read-only statements. A statement that begins with `WITH` is treated as read-only if it contains no keyword for
// writing.
const reading = /^\s*(?:SELECT|SHOW|EXPLAIN|VALUES|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i
const readingWith = /^\s*WITH\b/i
const writing = /\b(?:INSERT|UPDATE|DELETE|MERGE)\b/i

export const readsOnly = (sql: string): boolean => reading.test(sql) || (readingWith.test(sql) && !writing.test(sql))

const hasNul = (value: unknown): value is string => typeof value === "string" && value.includes("\u0000")

/** A text that no row contains. It stands for a searched text with U+0000, which no row can contain either. */
const notStored = `\u{10fffe}${randomUUID()}`

/**
 * Converts values like the embedded database. A statement that writes fails for text that PostgreSQL cannot store; a statement
 * that reads finds no such text.
 */
const bound = (sql: string, params: ReadonlyArray<unknown>): Result.Result<ReadonlyArray<unknown>, SqlError> => {
  if (!params.some(hasNul)) return Result.succeed(params.map(toBinding))
  if (!readsOnly(sql)) return Result.fail(nulFound())
  return Result.succeed(params.map((value) => (hasNul(value) ? notStored : toBinding(value))))
}

/** Hooks that a connection calls around its statements. */
export interface PostgresHooks extends Pick<ConnectionHooks, "before"> {
  /**
   * Returns false if a prepared statement may no longer match the tables. Every statement is then parsed again.
   */
  readonly prepares?: () => boolean
  /** Watches how long statements wait. */
  readonly watch?: StatementWatch
}

/** A session of PostgreSQL that binds parameters and returns results like the embedded database. */
export class PostgresConnection implements Connection.Connection {
  readonly session: PgConnection.PgConnection
  private readonly hooks: PostgresHooks
  /** True if the open transaction has written something. */
  hasWritten = false

  constructor(session: PgConnection.PgConnection, hooks: PostgresHooks = {}) {
    this.session = session
    this.hooks = hooks
  }

  private run<A>(
    sql: string,
    params: ReadonlyArray<unknown>,
    use: (params: ReadonlyArray<unknown>) => Effect.Effect<A, SqlError>
  ): Effect.Effect<A, SqlError> {
    return Effect.suspend(() => {
      this.hooks.before?.()
      this.hasWritten ||= !readsOnly(sql)
      const { watch } = this.hooks
      return Result.match(bound(sql, params), {
        onFailure: (error) => Effect.fail(error),
        onSuccess: (values) => (watch === undefined ? use(values) : Effect.ensuring(use(values), watch.begun()))
      })
    })
  }

  private get prepares(): boolean {
    return this.hooks.prepares?.() ?? true
  }

  private rows(sql: string, params: ReadonlyArray<unknown>, isPrepared: boolean) {
    return this.run(sql, params, (values) =>
      Effect.map(this.session.query(sql, values, isPrepared && this.prepares), ({ rows }) => rows)
    )
  }

  readonly execute: Connection.Connection["execute"] = (sql, params, transformRows) => {
    const rows = this.rows(sql, params, true)
    return transformRows === undefined ? rows : Effect.map(rows, transformRows)
  }

  readonly executeUnprepared: Connection.Connection["executeUnprepared"] = (sql, params, transformRows) => {
    const rows = this.rows(sql, params, false)
    return transformRows === undefined ? rows : Effect.map(rows, transformRows)
  }

  readonly executeRaw: Connection.Connection["executeRaw"] = (sql, params) =>
    this.run(sql, params, (values) => this.session.query(sql, values, this.prepares))

  readonly executeValues: Connection.Connection["executeValues"] = (sql, params) =>
    this.run(sql, params, (values) => this.session.queryValues(sql, values, this.prepares))

  readonly executeValuesUnprepared: Connection.Connection["executeValuesUnprepared"] = (sql, params) =>
    this.run(sql, params, (values) => this.session.queryValues(sql, values, false))

  readonly executeStream: Connection.Connection["executeStream"] = (sql, params, transformRows) =>
    Stream.unwrap(
      this.run(sql, params, (values) => {
        const rows = this.session.stream(sql, values)
        return Effect.succeed(transformRows === undefined ? rows : Stream.map(rows, (row) => transformRows([row])[0]))
      })
    )
}
