import { Effect, FileSystem, Layer, Option, Path, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleLedger } from "../../actors/capsule/CapsuleLedger.ts"
import { SqliteMaintenance } from "../../actors/database/SqliteMaintenance.ts"
import { fenceRestored } from "../../actors/run/RestoreFence.ts"
import { RunJournal } from "../../actors/run/RunJournal.ts"
import { RunLedger } from "../../actors/run/RunLedger.ts"
import { databaseName, prepareDataFolder } from "./DataFolder.ts"
import { instanceLock } from "./InstanceLock.ts"
import { migrate } from "./Migrations.ts"
import { layerWriter } from "./SqliteClient.ts"

/** A backup could not be written, or a file cannot be restored. Nothing was changed. */
export class BackupRefused extends Schema.TaggedError<BackupRefused>()("BackupRefused", { message: Schema.String }) {}

/** Makes the bytes and the name of `file` durable. */
const syncFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* Effect.scoped(Effect.flatMap(fs.open(file, { flag: "r+" }), (handle) => handle.sync))
  yield* Effect.scoped(Effect.flatMap(fs.open(path.dirname(file), { flag: "r" }), (handle) => handle.sync))
})

/**
 * Writes a consistent copy of the live database to a new file of mode 0600. Secrets in it stay sealed: the master key is
 * not part of it and has to be kept apart. Fails with `BackupRefused` when the file exists or cannot be written.
 */
export const backupTo = Effect.fn("backupTo")(
  function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    const maintenance = yield* SqliteMaintenance
    if (yield* fs.exists(file)) {
      return yield* new BackupRefused({ message: `${file} exists already. Name a new file.` })
    }
    const partial = `${file}.partial`
    // Created first so that its mode is right before any byte is in it.
    yield* fs.writeFile(partial, new Uint8Array(), { flag: "w", mode: 0o600 })
    yield* maintenance.backup(partial).pipe(
      Effect.andThen(syncFile(partial)),
      Effect.andThen(fs.rename(partial, file)),
      Effect.andThen(syncFile(file)),
      Effect.onError(() => Effect.ignore(fs.remove(partial, { force: true })))
    )
  },
  (effect, file) =>
    Effect.catchTags(effect, {
      PlatformError: (error) =>
        new BackupRefused({ message: `The backup ${file} cannot be written: ${error.message}.` }),
      SqlError: (error) => new BackupRefused({ message: `The backup ${file} cannot be written: ${error.message}` })
    })
)

const ledgers = RunLedger.layer.pipe(Layer.provide(RunJournal.layer), Layer.merge(CapsuleLedger.layer))

const prepare = (file: string) =>
  Effect.gen(function* () {
    const maintenance = yield* SqliteMaintenance
    const sql = yield* SqlClient.SqlClient
    const known = yield* sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'svc_migrations'`
    if (known.length === 0)
      return yield* new BackupRefused({ message: "The file is a database, but not a backup of svc." })
    const problems = yield* maintenance.integrityCheck
    if (problems.length > 0) {
      return yield* new BackupRefused({ message: `The file is damaged: ${problems.slice(0, 3).join("; ")}` })
    }
    yield* migrate
    const fence = yield* fenceRestored
    yield* maintenance.checkpoint
    return fence
  }).pipe(Effect.provide(Layer.provideMerge(ledgers, layerWriter(file)), { local: true }))

const databaseHead = "SQLite format 3\0"

/** What is no database at all is refused before there is a data folder for it. */
const requireDatabase = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(file))) return yield* new BackupRefused({ message: `There is no file ${file}.` })
  const head = yield* Effect.scoped(
    Effect.flatMap(fs.open(file, { flag: "r" }), (handle) => handle.readAlloc(databaseHead.length))
  )
  const text = Option.match(head, { onNone: () => "", onSome: (bytes) => new TextDecoder("latin1").decode(bytes) })
  if (text !== databaseHead) {
    return yield* new BackupRefused({ message: `${file} is no database, so it is no backup of svc.` })
  }
})

/**
 * Puts a backup into a data folder that holds no database yet. The copy is checked, brought to this release's tables and
 * loses every authority to apply (`fenceRestored`) before it takes its place, so a refused file leaves the folder as it was.
 * The master key is restored by the operator.
 */
export const restoreFrom = Effect.fn("restoreFrom")(
  function* (file: string, folder: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* requireDatabase(file)
    const real = yield* prepareDataFolder(folder)
    yield* instanceLock(real)
    const target = path.join(real, databaseName)
    if (yield* fs.exists(target)) {
      return yield* new BackupRefused({ message: `${real} holds a database already. Restore into an empty folder.` })
    }
    const partial = path.join(real, "restoring.sqlite")
    const removePartial = Effect.forEach(
      ["", "-wal", "-shm"],
      (suffix) => Effect.ignore(fs.remove(`${partial}${suffix}`, { force: true })),
      { discard: true }
    )
    yield* removePartial
    return yield* Effect.gen(function* () {
      yield* fs.copyFile(file, partial)
      yield* fs.chmod(partial, 0o600)
      const fence = yield* prepare(partial)
      yield* syncFile(partial)
      yield* fs.rename(partial, target)
      yield* syncFile(target)
      return fence
    }).pipe(Effect.ensuring(removePartial))
  },
  Effect.scoped,
  (effect, file) =>
    Effect.catchTags(effect, {
      PlatformError: (error) => new BackupRefused({ message: `${file} cannot be restored: ${error.message}.` }),
      SqlError: (error) => new BackupRefused({ message: `${file} cannot be restored: ${error.message}` }),
      MigrationError: (error) => new BackupRefused({ message: `${file} cannot be restored: ${error.message}` })
    })
)
