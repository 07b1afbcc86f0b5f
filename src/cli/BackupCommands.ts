import { Effect, FileSystem, Path } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { backupTo } from "../database/Backup.ts"
import { masterKeys } from "../database/BackupKeys.ts"
import { type VerifiedBackup, verifyBackup } from "../database/BackupVerification.ts"
import { databaseName } from "../database/DataFolder.ts"
import { restoreFrom } from "../database/Restore.ts"
import { layerCopying } from "../database/SqliteClient.ts"
import { CommandFailed, jsonFlag, misuse, print, progress, refused, requireEmbedded } from "./Output.ts"
import { formatReview } from "./RestoreReviewCommand.ts"
import { dataFlags, settingFlags, settingsOf } from "./SettingFlags.ts"

const flags = { ...dataFlags, json: jsonFlag }
const file = Argument.File("file").pipe(Argument.withDescription("Backup file"), Argument.withMetavar("path"))

const unauthenticatedFlag = Flag.Boolean("accept-unauthenticated").pipe(
  Flag.withDescription(
    "Accept a backup of an older release, which is not authenticated: anybody who could write to the file may have made themselves an owner or replaced credentials"
  ),
  Flag.withDefault(false)
)

const described = ({ entries, files, missing }: Effect.Success<ReturnType<typeof backupTo>>) => [
  files === "included"
    ? `It holds the database and ${entries.length} snapshots and builds.`
    : "It holds the database alone: sources are fetched from Git again after a restore.",
  ...missing.map(
    ({ digest, kind }) =>
      `The ${kind} ${digest} is missing or damaged here, so the next plan fetches or builds it again.`
  )
]

const formatVerified = (file: string, found: VerifiedBackup): string =>
  [
    found.problems.length === 0 ? `${file} is good: it was restored and read.` : `${file} cannot be relied on.`,
    ...found.problems,
    ...(found.authenticated ? [] : ["It is not authenticated: an older release wrote it, or its end was cut off."]),
    ...(found.createdAt === undefined ? [] : [`Written ${found.createdAt} by release ${found.release ?? "unknown"}.`]),
    `Its secrets need the master keys ${found.neededKeyIds.join(", ") || "(none: nothing is sealed in it)"}.`,
    `It holds ${found.snapshots} snapshots and ${found.builds} builds; ${found.absent.length} that Capsules need are fetched or built again.`
  ].join("\n")

const verifyCommand = Command.make(
  "verify",
  { ...flags, acceptUnauthenticated: unauthenticatedFlag, file },
  Effect.fn("backup.verify")(function* ({ acceptUnauthenticated, config, file, json, ...given }) {
    const settings = yield* settingsOf(given, config)
    const found = yield* verifyBackup(file, { keys: masterKeys(settings), acceptUnauthenticated }, progress)
    yield* print(json, { file, ...found }, formatVerified(file, found))
    if (found.problems.length > 0) return yield* refused(`${file} cannot be relied on.`)
  })
).pipe(
  Command.withDescription(
    "Restore a backup into a temporary folder and check its contents; exits with 1 if it is unusable"
  )
)

export const backupCommand = Command.make(
  "backup",
  { ...flags, backupSnapshots: settingFlags.backupSnapshots, file },
  Effect.fn("backup")(function* ({ config, file, json, ...given }) {
    const settings = yield* settingsOf(given, config)
    yield* requireEmbedded(settings)
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const database = path.join(settings.dataDir, databaseName)
    if (!(yield* fileSystem.exists(database))) {
      return yield* new CommandFailed({
        ...misuse,
        message: `${settings.dataDir} contains no database. Set the data folder with --data-dir.`
      })
    }
    // This is safe while a server is running: the copy uses SQLite's online backup API, and the command does not migrate,
    // claim or change anything.
    const filesOf = settings.backupSnapshots ? settings.dataDir : undefined
    const written = yield* backupTo(file, yield* masterKeys(settings), { filesOf, progress }).pipe(
      Effect.provide(layerCopying(database))
    )
    yield* print(
      json,
      { file, ...written },
      [
        `Wrote ${file}. Secrets in it stay sealed: keep the master key ${written.neededKeyIds.join(", ")} with your other keys, apart from it.`,
        ...described(written)
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription(
    "Write a consistent copy of the installation to a new file, also while the server runs. `svc backup verify` checks it"
  ),
  Command.withSubcommands([verifyCommand])
)

const describeEnded = ({ ended }: Effect.Success<ReturnType<typeof restoreFrom>>) =>
  "What happened after the backup is not in it. So that nothing is applied twice, the restore ended " +
  `${ended.plans} open plans and ${ended.applies} applies in progress, and turned off ${ended.automaticApplies} automatic applies.\n` +
  "So that nothing that was revoked since lets anybody in, it ended " +
  `${ended.sessions} sessions, ${ended.tokens} access tokens, ${ended.grants} grants to applications, ${ended.links} links and ${ended.enrolmentTokens} enrolment tokens of agents.`

export const restoreCommand = Command.make(
  "restore",
  { ...flags, acceptUnauthenticated: unauthenticatedFlag, file },
  Effect.fn("restore")(function* ({ acceptUnauthenticated, config, file, json, ...given }) {
    const settings = yield* settingsOf(given, config)
    yield* requireEmbedded(settings)
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
).pipe(Command.withDescription("Restore a backup into a data folder without a database; requires the master key"))
