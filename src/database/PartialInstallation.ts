import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { DateTime, Effect, FileSystem, Path } from "effect"
import { buildsName, databaseName, masterKeyName, snapshotsName } from "./DataFolder.ts"
import { instanceName } from "./Installation.ts"

/** Name of the file to which `svc restore` copies a backup. The file remains if the command is killed. */
export const restoringName = "restoring.sqlite"
/** Name of the folder that contains the files of a backup until the restored database is in place. */
export const restoringFilesName = "restoring-files"

const logName = `${databaseName}-wal`
const sharedName = `${databaseName}-shm`

/** Files that `--new` moves away. The master key remains, because the operator may have created it for the new installation. */
export const replacedByNew = [instanceName, restoringName, snapshotsName, buildsName] as const

/** The remains of an installation in a folder whose database is missing. */
export interface PartialInstallation {
  /** `installed` if the database has tables, and `empty` if the file exists but contains no installation. */
  readonly database: "installed" | "empty" | "absent"
  /** Names of files and folders that only an installation creates. */
  readonly found: ReadonlyArray<string>
}

/** Returns true if the file has the tables of an installation. Ignores an unreadable file, which the database check handles. */
const hasTables = (file: string, readOnly: boolean): boolean => {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(readOnly ? `${pathToFileURL(file).href}?immutable=1` : file, { readOnly })
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'svc_migrations'")
    return (
      tables.all().length > 0 && database.prepare("SELECT migration_id FROM svc_migrations LIMIT 1").all().length > 0
    )
  } catch {
    return true
  } finally {
    database?.close()
  }
}

/**
 * Inspects a data folder whose database is not open in any process. With `readOnly`, does not change the folder. Otherwise,
 * first merges a write-ahead log that a crash left behind into the database, as the next startup would do.
 */
export const inspectPartialInstallation = Effect.fn("inspectPartialInstallation")(function* (
  folder: string,
  { readOnly }: { readonly readOnly: boolean }
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const sizeOf = (name: string) =>
    Effect.orElseSucceed(
      Effect.map(fs.stat(path.join(folder, name)), ({ size }) => Number(size)),
      () => -1
    )
  const isFilled = (name: string) =>
    Effect.orElseSucceed(
      Effect.map(fs.readDirectory(path.join(folder, name)), (names) => names.length > 0),
      () => false
    )
  const size = yield* sizeOf(databaseName)
  const log = yield* sizeOf(logName)
  // Do not open an empty file, because SQLite would delete the file's log. Truncation leaves an empty file with a log.
  if (size > 0) {
    const file = path.join(folder, databaseName)
    // With `readOnly`, assume that the log belongs to an installation, because the log cannot be read without changing the
    // folder.
    const isInstalled = (readOnly && log > 0) || (yield* Effect.sync(() => hasTables(file, readOnly)))
    if (isInstalled) return { database: "installed", found: [] } satisfies PartialInstallation
  }
  const found: Array<string> = []
  for (const name of [masterKeyName, instanceName, restoringName, databaseName]) {
    if ((yield* sizeOf(name)) >= 0) found.push(name)
  }
  if (log > 0) found.push(logName)
  for (const name of [snapshotsName, buildsName]) if (yield* isFilled(name)) found.push(name)
  return { database: size >= 0 ? "empty" : "absent", found } satisfies PartialInstallation
})

/**
 * Moves the remains of a database, and `others`, into a new subfolder. Returns the subfolder's path, or `undefined` if
 * nothing was moved. The log must be moved too, because SQLite would replay it into the next database.
 */
export const setAside = Effect.fn("setAside")(function* (folder: string, others: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const present: Array<string> = []
  for (const name of [databaseName, logName, sharedName, ...others]) {
    if (yield* fs.exists(path.join(folder, name))) present.push(name)
  }
  if (present.length === 0) return undefined
  const at = DateTime.formatIso(yield* DateTime.now).replaceAll(/[:.]/g, "-")
  const aside = path.join(folder, `set-aside-${at}`)
  yield* fs.makeDirectory(aside, { recursive: true, mode: 0o700 })
  for (const name of present) yield* fs.rename(path.join(folder, name), path.join(aside, name))
  yield* Effect.scoped(Effect.flatMap(fs.open(folder, { flag: "r" }), (handle) => handle.sync))
  return aside
})
