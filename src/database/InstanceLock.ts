import { DatabaseSync } from "node:sqlite"
import { DateTime, Effect, FileSystem, Option, Path, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { createPrivateFile } from "./PrivateFile.ts"
import { sqliteFailure } from "./SqliteConnection.ts"

/** Raised if another process serves this data folder. */
export class InstanceAlreadyRunning extends Schema.TaggedError<InstanceAlreadyRunning>()("InstanceAlreadyRunning", {
  message: Schema.String
}) {}

/** Process that holds the lock on a data folder. `since` is in ISO 8601, and absent in files from older releases. */
const Holder = Schema.Struct({ pid: Schema.Int, since: Schema.optionalKey(Schema.String) })
export type Holder = typeof Holder.Type
const HolderFile = Schema.fromJsonString(Holder)

// Milliseconds to wait for the lock. A process that checks the lock holds it briefly, which must not prevent a server from
// starting.
const lookerMillis = 100

const names = Effect.fnUntraced(function* (folder: string) {
  const path = yield* Path.Path
  return { lockFile: path.join(folder, "instance.lock"), holderFile: path.join(folder, "instance.holder") }
})

const isHeld = (error: SqlError.SqlError) => error.reason._tag === "LockTimeoutError"

const readHolder = (holderFile: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.readFileString(holderFile).pipe(Effect.flatMap(Schema.decodeEffect(HolderFile)), Effect.option)
  )

/**
 * Reports whether a process has claimed the data folder, without creating or changing anything. The holder is `none` if the
 * holder file cannot be read. Fails with `SqlError` if the lock cannot be checked, for example because permission is denied.
 */
export const lookAtInstance = Effect.fn("lookAtInstance")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const { holderFile, lockFile } = yield* names(folder)
  if (!(yield* fs.exists(lockFile))) return { held: false, holder: Option.none<Holder>() }
  const held = yield* Effect.try({
    try: () => {
      const database = new DatabaseSync(lockFile, { readOnly: true, timeout: 0 })
      try {
        database.prepare("SELECT COUNT(*) FROM sqlite_schema").all()
      } finally {
        database.close()
      }
      return false
    },
    catch: sqliteFailure("look at the lock of the data folder")
  }).pipe(Effect.catchIf(isHeld, () => Effect.succeed(true)))
  return { held, holder: held ? yield* readHolder(holderFile) : Option.none<Holder>() }
})

/**
 * Claims a data folder until the scope closes. The claim is SQLite's exclusive file lock, which the kernel releases when the
 * process exits for any reason, so there are no stale locks. A separate file contains the holder's process id for messages,
 * because reading the locked file itself would release this process's lock.
 */
export const instanceLock = Effect.fn("instanceLock")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const { holderFile, lockFile } = yield* names(folder)

  const refuse = Effect.gen(function* () {
    const holder = yield* readHolder(holderFile)
    const named = Option.match(holder, { onNone: () => "", onSome: ({ pid }) => ` (process ${pid})` })
    return yield* new InstanceAlreadyRunning({
      message: `Another server${named} already uses the data folder ${folder}. Stop it, or choose another folder.`
    })
  })

  yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        createPrivateFile(lockFile)
        const database = new DatabaseSync(lockFile, { timeout: lookerMillis })
        try {
          database.exec("PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE")
        } catch (cause) {
          database.close()
          throw cause
        }
        return database
      },
      catch: sqliteFailure("lock the data folder")
    }),
    (database) => Effect.sync(() => database.close())
  ).pipe(Effect.catchIf(isHeld, () => refuse))

  const holder: Holder = { pid: process.pid, since: DateTime.formatIso(yield* DateTime.now) }
  yield* fs.writeFileString(holderFile, yield* Schema.encodeEffect(HolderFile)(holder), { mode: 0o600 })
})
