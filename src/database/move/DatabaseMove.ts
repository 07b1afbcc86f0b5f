import { Effect, type FileSystem, type Path, Schema, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { now, newId } from "../../../actors/base/Identity.ts"
import { KillPoint } from "../../../actors/base/KillPoint.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"
import type { Keyring } from "../../../actors/base/vault/MasterKey.ts"
import type { Progress } from "../BackupFiles.ts"
import { readInstallation } from "../Installation.ts"
import { newestKnown } from "../Migrations.ts"
import { faultText } from "../StartFault.ts"
import { quoted } from "./CanonicalRows.ts"
import {
  type DatabasePlace,
  markFault,
  type MoveMark,
  readMark,
  recordedVersion,
  removeMark,
  writeMark
} from "./MoveMarks.ts"
import { MoveRefused } from "./MoveRefused.ts"
import { checkKeys, verifyCopy } from "./MoveVerification.ts"
import { compareTable, type ComparedTable, copyTable, type MovedDatabases } from "./TableCopy.ts"
import { differingTables, readShapes, type TableShape } from "./TableShapes.ts"
import { type UnstorableValue, unstorableValues } from "./UnstorableValues.ts"

/** A step of a move, executed in one of the two databases. */
type Step<A, R = never> = Effect.Effect<A, MoveRefused | SqlError.SqlError, R | FileSystem.FileSystem | Path.Path>

/** The database from which the rows are moved. */
export interface MoveSource {
  readonly place: DatabasePlace
  /** Opens the database exclusively for this process. */
  readonly open: Step<SqlClient.SqlClient, Scope.Scope>
  /** Checks the opened database, in the transaction that spans the whole move. */
  readonly check: Step<void, SqlClient.SqlClient>
  /** Makes the database refuse writes, in the transaction that marks the database as moved. */
  readonly close: Step<void, SqlClient.SqlClient>
}

/** The database that receives the rows. */
export interface MoveTarget {
  readonly place: DatabasePlace
  /** Opens the database and creates its tables. `source` is the mark of the source database. */
  readonly open: (source: MoveMark | undefined) => Step<SqlClient.SqlClient, Scope.Scope>
  /** Checks the copied rows. */
  readonly check: Step<void, SqlClient.SqlClient>
  /** Makes the copy the current database, and opens it. */
  readonly settle: Step<SqlClient.SqlClient, Scope.Scope>
}

export interface MoveResult {
  readonly tables: ReadonlyArray<ComparedTable>
  /** Number of audit chains that were checked in the new database. */
  readonly chains: number
  /** Faults, found in both databases, in sealed values and audit chains. */
  readonly faults: ReadonlyArray<string>
  /** True if an interrupted attempt had copied the rows. */
  readonly resumed: boolean
}

const on = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, SqlClient.SqlClient, sql)

const MoveId = { make: (text: string) => text }

const Identity = rowShape({ table: Schema.String, sequence: Schema.String })
const Last = rowShape({ last: Schema.Int })
const Sequence = rowShape({ table: Schema.String, last: Schema.Int })

/**
 * The last number that the database assigned to a row of each table, or 0 if there was no row. The database never assigns
 * the same number again.
 */
type Sequences = ReadonlyMap<string, number>

const identitiesOf = (sql: SqlClient.SqlClient) =>
  Identity.rowsOnce(sql)`SELECT CAST(table_name AS TEXT) AS "table",
      pg_get_serial_sequence(quote_ident(table_name), column_name) AS sequence
    FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES' ORDER BY table_name`

const readOfPostgres = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const last = new Map<string, number>()
  for (const { sequence, table } of yield* identitiesOf(sql)) {
    const [row] = yield* Last.rowsOnce(sql)`SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last
      FROM ${sql.literal(sequence)}`
    last.set(table, row?.last ?? 0)
  }
  return last
})

// SQLite has a sequence only for tables that have ever contained a row.
const readOfSqlite = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const rows = yield* Sequence.rowsOnce(sql)`SELECT t.name AS "table", COALESCE(s.seq, 0) AS last
    FROM sqlite_schema t LEFT JOIN sqlite_sequence s ON s.name = t.name
    WHERE t.type = 'table' AND t.sql LIKE '% AUTOINCREMENT%' ORDER BY t.name`
  return new Map(rows.map(({ last, table }) => [table, last]))
})

const readSequences = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({ pg: () => readOfPostgres(sql), orElse: () => readOfSqlite(sql) })

const continueInPostgres = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, sequences: Sequences) {
  for (const { sequence, table } of yield* identitiesOf(sql)) {
    const last = sequences.get(table) ?? 0
    yield* sql`SELECT setval(CAST(${sequence} AS REGCLASS), ${Math.max(last, 1)}, ${sql.literal(String(last > 0))})`
  }
})

const continueInSqlite = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, sequences: Sequences) {
  for (const [table, last] of sequences) {
    yield* sql`DELETE FROM sqlite_sequence WHERE name = ${table}`
    if (last > 0) yield* sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`
  }
})

/** Makes the sequences of the database continue after these numbers. */
const continueSequences = (sql: SqlClient.SqlClient, sequences: Sequences) =>
  sql.onDialectOrElse({
    pg: () => continueInPostgres(sql, sequences),
    orElse: () => continueInSqlite(sql, sequences)
  })

const Constraint = rowShape({ owner: Schema.String, name: Schema.String, definition: Schema.String })
const Trigger = rowShape({ name: Schema.String, statement: Schema.String })

const runAll = (sql: SqlClient.SqlClient, statements: ReadonlyArray<string>) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement).unprepared, { discard: true })

/**
 * Empties the tables of a PostgreSQL target, disables their triggers, drops the foreign keys, runs `copy`, and restores
 * triggers and keys, all in one transaction. Triggers would record the copied rows as changes. The keys are checked when
 * they are added again.
 */
const withoutConstraintsOfPostgres = Effect.fnUntraced(function* <E, R>(
  sql: SqlClient.SqlClient,
  tables: ReadonlyArray<TableShape>,
  copy: Effect.Effect<void, E, R>
) {
  const keys = yield* Constraint.rowsOnce(sql)`SELECT CAST(c.relname AS TEXT) AS owner, CAST(k.conname AS TEXT) AS name,
      pg_get_constraintdef(k.oid) AS definition
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.contype = 'f' AND c.relnamespace = CAST(current_schema() AS REGNAMESPACE)`
  const table = (name: string) => `ALTER TABLE ${quoted(name)}`
  yield* runAll(
    sql,
    keys.map(({ name, owner }) => `${table(owner)} DROP CONSTRAINT ${quoted(name)}`)
  )
  yield* runAll(
    sql,
    tables.map(({ name }) => `${table(name)} DISABLE TRIGGER USER`)
  )
  yield* runAll(sql, [`TRUNCATE ${tables.map(({ name }) => quoted(name)).join(", ")}`])
  yield* copy
  yield* runAll(
    sql,
    tables.map(({ name }) => `${table(name)} ENABLE TRIGGER USER`)
  )
  yield* runAll(
    sql,
    keys.map(({ definition, name, owner }) => `${table(owner)} ADD CONSTRAINT ${quoted(name)} ${definition}`)
  )
})

/**
 * Like `withoutConstraintsOfPostgres`, but the caller must disable SQLite's foreign key check, which is a setting of the
 * session.
 */
const withoutTriggersOfSqlite = Effect.fnUntraced(function* <E, R>(
  sql: SqlClient.SqlClient,
  tables: ReadonlyArray<TableShape>,
  copy: Effect.Effect<void, E, R>
) {
  const triggers = yield* Trigger.rowsOnce(sql)`SELECT name, sql AS statement FROM sqlite_schema
    WHERE type = 'trigger' ORDER BY rowid`
  yield* runAll(
    sql,
    triggers.map(({ name }) => `DROP TRIGGER ${quoted(name)}`)
  )
  yield* runAll(
    sql,
    tables.map(({ name }) => `DELETE FROM ${quoted(name)}`)
  )
  yield* copy
  yield* runAll(
    sql,
    triggers.map(({ statement }) => statement)
  )
})

/**
 * Empties the tables of a target and runs `copy` while the target has no triggers or foreign keys, in the caller's
 * transaction.
 */
const withoutConstraints = <E, R>(
  sql: SqlClient.SqlClient,
  tables: ReadonlyArray<TableShape>,
  copy: Effect.Effect<void, E, R>
) =>
  sql.onDialectOrElse({
    pg: () => withoutConstraintsOfPostgres(sql, tables, copy),
    orElse: () => withoutTriggersOfSqlite(sql, tables, copy)
  })

/** Copies all rows and the mark in one transaction, so that an interrupted copy has no effect. */
const copyAll = Effect.fnUntraced(function* (
  databases: MovedDatabases,
  tables: ReadonlyArray<TableShape>,
  mark: MoveMark,
  progress: Progress
) {
  const { from, to } = databases
  const copy = Effect.gen(function* () {
    for (const [index, table] of tables.entries()) {
      yield* progress(`Copying ${table.name} (${index + 1} of ${tables.length} tables)`)
      yield* copyTable(databases, table)
    }
    yield* continueSequences(to, yield* readSequences(from))
  })
  yield* to.withTransaction(Effect.andThen(withoutConstraints(to, tables, copy), on(to, writeMark(mark))))
})

const compareAll = Effect.fnUntraced(function* (
  databases: MovedDatabases,
  tables: ReadonlyArray<TableShape>,
  progress: Progress
) {
  const compared: Array<ComparedTable> = []
  for (const [index, table] of tables.entries()) {
    yield* progress(`Comparing ${table.name} (${index + 1} of ${tables.length} tables)`)
    const found = yield* compareTable(databases, table)
    compared.push(found)
  }
  const [before, after] = [yield* readSequences(databases.from), yield* readSequences(databases.to)]
  for (const [table, last] of before) {
    if (after.get(table) !== last) {
      return yield* new MoveRefused({
        message: `The numbers of ${table} do not continue at ${last} in the new database.`
      })
    }
  }
  return compared
})

/** Raised if PostgreSQL cannot store some values of the database. Nothing was moved. */
class ValuesUnstorable extends Schema.TaggedError<ValuesUnstorable>()("ValuesUnstorable", {
  message: Schema.String,
  values: Schema.Array(
    Schema.Struct({
      table: Schema.String,
      column: Schema.String,
      key: Schema.Record(Schema.String, Schema.NullOr(Schema.String)),
      problem: Schema.String
    })
  )
}) {}

/** Returns the tables of the two databases. Fails unless both databases have exactly the tables of this release. */
const sameTables = Effect.fn("sameTables")(function* ({ from, to }: MovedDatabases) {
  const version = yield* on(from, recordedVersion)
  if (version !== newestKnown) {
    return yield* new MoveRefused({
      message: `The database has the tables of version ${version ?? 0}, and this release has version ${newestKnown}. Start a server of this release on the database once, and repeat the move.`
    })
  }
  const tables = yield* on(from, readShapes)
  const differing = differingTables(tables, yield* on(to, readShapes))
  if ((yield* on(to, recordedVersion)) !== version || differing.length > 0) {
    return yield* new MoveRefused({
      message: `The new database has other tables (${differing.join(", ") || "of another version"}). Create an empty database.`
    })
  }
  return tables
})

const Count = rowShape({ count: Schema.Int })
const Started = rowShape({ incarnation: Schema.Int })

/** Tables into which a migration inserts a row. */
const seeded: ReadonlySet<string> = new Set(["installation", "authority_changes"])

/** Fails if the database contains rows, or if a server has used it. */
const requireEmpty = Effect.fn("requireEmpty")(function* (sql: SqlClient.SqlClient, tables: ReadonlyArray<TableShape>) {
  const used = new MoveRefused({ message: "The new database belongs to an installation. Create an empty database." })
  const [server] = yield* Started.rowsOnce(sql)`SELECT incarnation FROM installation`
  if (server !== undefined && server.incarnation > 0) return yield* used
  for (const { name } of tables.filter((table) => !seeded.has(table.name))) {
    const [row] = yield* Count.rowsOnce(sql)`SELECT COUNT(*) AS count FROM ${sql(name)}`
    if (row !== undefined && row.count > 0) return yield* used
  }
})

/** Fails if an SQLite database contains values that PostgreSQL cannot store, and lists all of them. */
const checkValues = Effect.fn("checkValues")(function* (sql: SqlClient.SqlClient, tables: ReadonlyArray<TableShape>) {
  const found: Array<UnstorableValue> = []
  for (const table of tables) {
    const values = yield* unstorableValues(sql, table)
    found.push(...values)
  }
  if (found.length === 0) return
  return yield* new ValuesUnstorable({
    message: `PostgreSQL cannot hold ${found.length === 1 ? "a value" : `${found.length} values`} of the database. Change or remove what is listed, and repeat the move. Nothing was moved.`,
    values: found
  })
})

/**
 * Copies a database, compares the copy with the original row by row, checks the sealed values and audit chains of the copy,
 * and makes the copy the current database.
 *
 * The copy is marked until the move is complete, and the old database is marked once the copy is verified. No server starts
 * on a marked database, so at any time at most one of the two databases can be served. If the move is interrupted before the
 * old database is marked, the old database is unchanged, and the next attempt starts from the beginning. If it is
 * interrupted later, the next attempt verifies the copy again and finishes the move.
 */
export const moveDatabase = Effect.fn("moveDatabase")(function* (
  source: MoveSource,
  target: MoveTarget,
  keyring: Keyring,
  progress: Progress
) {
  const killPoint = yield* KillPoint
  const isToPostgres = target.place.kind === "postgres"

  const moved = Effect.gen(function* () {
    const from = yield* SqlClient.SqlClient
    yield* source.check
    const left = yield* readMark
    const to = yield* target.open(left)
    const arrived = yield* on(to, readMark)
    const resumed = left?.state === "moved" && arrived?.state === "arriving" && left.id === arrived.id
    if (left !== undefined && !resumed) return yield* new MoveRefused({ message: faultText(markFault(left)) })
    const installation = (yield* readInstallation)?.id ?? ""
    if (arrived !== undefined && (arrived.state === "moved" || arrived.installation !== installation)) {
      return yield* new MoveRefused({
        message: `The new database is not empty. ${faultText(markFault(arrived))} Or create an empty database.`
      })
    }
    const databases = { from, to }
    const tables = yield* sameTables(databases)
    yield* checkKeys(keyring)
    const mark = {
      id: left?.id ?? (yield* newId(MoveId, "move")),
      installation,
      at: left?.at ?? (yield* now)
    }
    if (!resumed) {
      if (arrived === undefined) yield* requireEmpty(to, tables)
      yield* progress("Looking for values that the new database cannot hold")
      if (isToPostgres) yield* checkValues(from, tables)
      yield* copyAll(databases, tables, { ...mark, state: "arriving", other: source.place }, progress)
      yield* killPoint("moving.copied")
    }
    const compared = yield* compareAll(databases, tables, progress)
    yield* progress("Opening every sealed value and checking the audit chains")
    const { chains, faults } = yield* verifyCopy(databases, keyring)
    yield* on(to, target.check)
    yield* killPoint("moving.verified")
    if (!resumed) {
      yield* source.close
      yield* writeMark({ ...mark, state: "moved", other: target.place })
    }
    return { tables: compared, chains, faults, resumed } satisfies MoveResult
  })

  const result = yield* Effect.scoped(Effect.flatMap(source.open, (from) => from.withTransaction(on(from, moved))))
  yield* killPoint("moving.marked")
  yield* Effect.scoped(
    Effect.gen(function* () {
      const to = yield* target.settle
      yield* killPoint("moving.settled")
      yield* on(to, removeMark)
    })
  )
  return result
})
