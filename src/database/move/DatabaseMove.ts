import { Effect, type FileSystem, type Path, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { now, newId } from "../../../actors/base/Identity.ts"
import { KillPoint } from "../../../actors/base/KillPoint.ts"
import type { Keyring } from "../../../actors/base/vault/MasterKey.ts"
import type { Progress } from "../BackupFiles.ts"
import { readInstallation } from "../Installation.ts"
import { faultText } from "../StartFault.ts"
import { type DatabasePlace, type MoveMark, markFault, readMark, removeMark, writeMark } from "./MoveMarks.ts"
import { checkValues, requireEmpty, sameTables } from "./MovePreconditions.ts"
import { MoveRefused } from "./MoveRefused.ts"
import { checkKeys, verifyCopy } from "./MoveVerification.ts"
import { continueSequences, readSequences } from "./Sequences.ts"
import { compareTable, type ComparedTable, copyTable, type MovedDatabases } from "./TableCopy.ts"
import type { TableShape } from "./TableShapes.ts"
import { withoutConstraints } from "./TargetConstraints.ts"

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
