import { Effect, FileSystem, Path } from "effect"
import { Argument, Command } from "effect/cli"
import { backupTo, restoreFrom } from "../database/Backup.ts"
import { databaseName } from "../database/DataFolder.ts"
import { layerCopying } from "../database/SqliteClient.ts"
import { CommandFailed, jsonFlag, print } from "./Output.ts"
import { configFlag, settingFlags, settingsOf } from "./SettingFlags.ts"

const flags = { dataDir: settingFlags.dataDir, config: configFlag, json: jsonFlag }
const file = Argument.File("file").pipe(Argument.withDescription("Backup file"), Argument.withMetavar("path"))

export const backupCommand = Command.make(
  "backup",
  { ...flags, file },
  Effect.fn("backup")(function* ({ config, dataDir, file, json }) {
    const settings = yield* settingsOf({ dataDir }, config)
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const database = path.join(settings.dataDir, databaseName)
    if (!(yield* fileSystem.exists(database))) {
      return yield* new CommandFailed({
        message: `${settings.dataDir} holds no database. Name the data folder with --data-dir.`
      })
    }
    // Beside a running server: the copy is SQLite's own online backup, and nothing is migrated, claimed or written.
    yield* Effect.provide(backupTo(file), layerCopying(database))
    yield* print(
      json,
      { file },
      `Wrote ${file}. Secrets in it stay sealed: keep the master key with your other keys, apart from it.`
    )
  })
).pipe(Command.withDescription("Write a consistent copy of the database to a new file; the server may be running"))

export const restoreCommand = Command.make(
  "restore",
  { ...flags, file },
  Effect.fn("restore")(function* ({ config, dataDir, file, json }) {
    const settings = yield* settingsOf({ dataDir }, config)
    const fence = yield* restoreFrom(file, settings.dataDir)
    yield* print(
      json,
      { file, dataDir: settings.dataDir, ended: fence },
      `Restored ${file} into ${settings.dataDir}. Put the master key back before the first start.\n` +
        "What was applied after the backup is not in it. So that nothing is applied twice, the restore ended " +
        `${fence.plans} open plans and ${fence.applies} applies under way, and switched off ${fence.automaticApplies} automatic applies.`
    )
  })
).pipe(Command.withDescription("Put a backup into a data folder that holds no database yet"))
