import { Effect, FileSystem, Path } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { loadKeyring } from "../../actors/vault/MasterKeyStore.ts"
import { backupTo } from "../database/Backup.ts"
import { BackupRefused } from "../database/BackupRefused.ts"
import { databaseName, masterKeyName } from "../database/DataFolder.ts"
import { restoreFrom } from "../database/Restore.ts"
import { layerCopying } from "../database/SqliteClient.ts"
import { masterKeySource, type Settings } from "../settings/Settings.ts"
import { CommandFailed, jsonFlag, print } from "./Output.ts"
import { formatReview } from "./RestoreReviewCommand.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

const flags = { ...dataFlags, json: jsonFlag }
const file = Argument.File("file").pipe(Argument.withDescription("Backup file"), Argument.withMetavar("path"))

/** The master keys in these settings; none is created. */
const masterKeys = Effect.fnUntraced(function* (settings: Settings) {
  const path = yield* Path.Path
  const source = masterKeySource(settings, path.join(settings.dataDir, masterKeyName))
  return yield* loadKeyring(source.kind === "file" ? { ...source, create: false } : source, []).pipe(
    Effect.mapError(
      ({ message }) =>
        new BackupRefused({
          message: `Backups are authenticated with the master key. ${message} Run this with the settings of the server, or put the key there first.`
        })
    )
  )
})

export const backupCommand = Command.make(
  "backup",
  { ...flags, file },
  Effect.fn("backup")(function* ({ config, file, json, ...given }) {
    const settings = yield* settingsOf(given, config)
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const database = path.join(settings.dataDir, databaseName)
    if (!(yield* fileSystem.exists(database))) {
      return yield* new CommandFailed({
        message: `${settings.dataDir} holds no database. Name the data folder with --data-dir.`
      })
    }
    // Beside a running server: the copy is SQLite's own online backup, and nothing is migrated, claimed or written.
    yield* Effect.provide(backupTo(file, yield* masterKeys(settings)), layerCopying(database))
    yield* print(
      json,
      { file },
      `Wrote ${file}. Secrets in it stay sealed: keep the master key with your other keys, apart from it.`
    )
  })
).pipe(Command.withDescription("Write a consistent copy of the database to a new file; the server may be running"))

const unauthenticatedFlag = Flag.Boolean("accept-unauthenticated").pipe(
  Flag.withDescription(
    "Restore a backup of an older release, which nothing protects: whoever could write to the file may have made themselves an owner or replaced credentials in it"
  ),
  Flag.withDefault(false)
)

const describeEnded = ({ ended }: Effect.Success<ReturnType<typeof restoreFrom>>) =>
  "What happened after the backup is not in it. So that nothing is applied twice, the restore ended " +
  `${ended.plans} open plans and ${ended.applies} applies under way, and switched off ${ended.automaticApplies} automatic applies.\n` +
  "So that nothing that was revoked since lets anybody in, it ended " +
  `${ended.sessions} sessions, ${ended.tokens} access tokens, ${ended.grants} grants to applications and ${ended.links} links.`

export const restoreCommand = Command.make(
  "restore",
  { ...flags, acceptUnauthenticated: unauthenticatedFlag, file },
  Effect.fn("restore")(function* ({ acceptUnauthenticated, config, file, json, ...given }) {
    const settings = yield* settingsOf(given, config)
    const restored = yield* restoreFrom(file, settings.dataDir, { keys: masterKeys(settings), acceptUnauthenticated })
    const { aside, authenticated, ended, review } = restored
    yield* print(
      json,
      { file, dataDir: settings.dataDir, authenticated, ended, review, ...(aside === undefined ? {} : { aside }) },
      [
        `Restored ${file} into ${settings.dataDir}.`,
        describeEnded(restored),
        ...(aside === undefined ? [] : [`What was left of another database is in ${aside}.`]),
        formatReview(review)
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription("Put a backup into a data folder that holds no database yet; the master key has to be there")
)
