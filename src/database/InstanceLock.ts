import { DatabaseSync } from "node:sqlite"
import { Effect, FileSystem, Path, Schema } from "effect"
import { createPrivateFile } from "./PrivateFile.ts"
import { sqliteFailure } from "./SqliteConnection.ts"

/** Another process serves this data folder. */
export class InstanceAlreadyRunning extends Schema.TaggedError<InstanceAlreadyRunning>()("InstanceAlreadyRunning", {
  message: Schema.String
}) {}

const Holder = Schema.fromJsonString(Schema.Struct({ pid: Schema.Int }))

/**
 * Claims a data folder for the life of the Scope. The claim is SQLite's own exclusive file lock, which the kernel drops
 * when the process ends in whatever way: there is no stale lock to clean up. The holder's process id sits in a file
 * beside it, for the message only (reading the locked file itself would release the lock of this process).
 */
export const instanceLock = Effect.fn("instanceLock")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const holderFile = path.join(folder, "instance.json")

  const refuse = Effect.gen(function* () {
    const holder = yield* fs.readFileString(holderFile).pipe(
      Effect.flatMap(Schema.decodeEffect(Holder)),
      Effect.map(({ pid }) => ` (process ${pid})`),
      Effect.orElseSucceed(() => "")
    )
    return yield* new InstanceAlreadyRunning({
      message: `Another server${holder} already uses the data folder ${folder}. Stop it, or choose another folder.`
    })
  })

  yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        const file = path.join(folder, "instance.lock")
        createPrivateFile(file)
        const database = new DatabaseSync(file, { timeout: 0 })
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
  ).pipe(
    Effect.catchIf(
      (error) => error.reason._tag === "LockTimeoutError",
      () => refuse
    )
  )

  yield* fs.writeFileString(holderFile, yield* Schema.encodeEffect(Holder)({ pid: process.pid }), { mode: 0o600 })
})
