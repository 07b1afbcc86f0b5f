import { Context, Effect, FileSystem, Layer, Path } from "effect"
import { SqlClient } from "effect/sql"
import { syncFile } from "../Backup.ts"
import { DataFolder } from "../DataFolder.ts"
import { checkInstallation, settleInstallation } from "../FirstStart.ts"
import { migrate } from "../Migrations.ts"
import { inspectPartialInstallation, setAside } from "../PartialInstallation.ts"
import { integrityOf } from "../ReadOnlyDatabase.ts"
import { layerWriter } from "../SqliteClient.ts"
import type { MoveSource, MoveTarget } from "./DatabaseMove.ts"
import { type DatabasePlace, type MoveMark, readMark } from "./MoveMarks.ts"
import { MoveRefused, refusing } from "./MoveRefused.ts"

/** File name of the database in the data folder until all of its rows have been copied. */
export const movingName = "moving.sqlite"

const openFile = (file: string) => Effect.map(Layer.build(layerWriter(file)), Context.get(SqlClient.SqlClient))

const placeOf = ({ path }: DataFolder["Service"]): DatabasePlace => ({ kind: "sqlite", text: path })

const isInstalled = ({ path }: DataFolder["Service"]) =>
  Effect.map(inspectPartialInstallation(path, { readOnly: false }), ({ database }) => database === "installed")

/** Fails if the pages or references of the database are damaged. */
const checkIntegrity = Effect.gen(function* () {
  const findings = yield* integrityOf(false)
  if (findings.length === 0) return
  return yield* new MoveRefused({
    message: `The database in the data folder has faults: ${findings.slice(0, 5).join("; ")}`
  })
})

/** The database of a data folder as the source of a move. */
export const sqliteSource = Effect.map(
  DataFolder,
  (folder): MoveSource => ({
    place: placeOf(folder),
    open: refusing(
      Effect.gen(function* () {
        if (yield* isInstalled(folder)) return yield* openFile(folder.databaseFile)
        return yield* new MoveRefused({
          message: `${folder.path} contains no database. Set the data folder with --data-dir.`
        })
      })
    ),
    check: refusing(Effect.andThen(checkIntegrity, checkInstallation(folder.path))),
    // The lock of the data folder excludes all servers until the mark is written.
    close: Effect.void
  })
)

const removeFiles = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(["", "-wal", "-shm"], (suffix) => fs.remove(`${file}${suffix}`, { force: true }), {
    discard: true
  })
})

const isOfMove = (mark: MoveMark | undefined, source: MoveMark | undefined) =>
  mark?.state === "arriving" && source?.state === "moved" && mark.id === source.id

/** Opens a new file with tables. Foreign keys are checked only after all rows have been copied. */
const openNew = Effect.fnUntraced(function* (file: string) {
  const sql = yield* openFile(file)
  yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
  yield* sql`PRAGMA foreign_keys=OFF`
  return sql
})

const markIn = (file: string) => Effect.scoped(Effect.flatMap(openFile(file), (sql) => on(sql, readMark)))

const on = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, SqlClient.SqlClient, sql)

/**
 * The database of a data folder as the target of a move. Its file has a temporary name until the old database is marked. A
 * database that was moved out of this folder earlier is kept under another name.
 */
export const sqliteTarget = Effect.gen(function* () {
  const folder = yield* DataFolder
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const partial = path.join(folder.path, movingName)

  const open = Effect.fnUntraced(function* (source: MoveMark | undefined) {
    const present = (yield* isInstalled(folder)) ? yield* markIn(folder.databaseFile) : "absent"
    if (present === undefined) {
      return yield* new MoveRefused({ message: `${folder.path} contains a database already. Use another data folder.` })
    }
    if (present !== "absent" && present.state === "arriving") return yield* openFile(folder.databaseFile)
    // An earlier attempt that was killed may have left an incomplete file, or there may be a file from another move.
    if ((yield* fs.exists(partial)) && source !== undefined && isOfMove(yield* markIn(partial), source)) {
      return yield* openFile(partial)
    }
    yield* removeFiles(partial)
    return yield* openNew(partial)
  })

  const settle = Effect.gen(function* () {
    if (yield* fs.exists(partial)) {
      // Opening and closing the file merges the log that a killed process left.
      yield* markIn(partial)
      if (yield* fs.exists(`${partial}-wal`)) {
        return yield* new MoveRefused({ message: `${partial} is open in another process. Repeat the move.` })
      }
      yield* setAside(folder.path, [])
      yield* fs.rename(partial, folder.databaseFile)
      yield* syncFile(folder.databaseFile)
    }
    const sql = yield* openFile(folder.databaseFile)
    yield* on(sql, settleInstallation(folder.path))
    return sql
  })

  const target: MoveTarget = {
    place: placeOf(folder),
    open: (source) => refusing(open(source)),
    check: checkIntegrity,
    settle: refusing(settle)
  }
  return target
})
