import { Effect, FileSystem, Path } from "effect"
import { SqlClient } from "effect/sql"
import { masterKeysInUse } from "../../actors/base/vault/DataKeys.ts"
import { integrityFaults } from "../../actors/base/vault/SealedPlaces.ts"
import type { Progress } from "./BackupFiles.ts"
import { type BackupManifest, type NeededFile, placeOf } from "./BackupManifest.ts"
import { BackupRefused } from "./BackupRefused.ts"
import { databaseName } from "./DataFolder.ts"
import { isWhole, neededFiles } from "./NeededFiles.ts"
import { integrityOf, withReadOnlyDatabase } from "./ReadOnlyDatabase.ts"
import { restoreFrom, type RestoreOptions } from "./Restore.ts"

/** Result of a trial restore. */
export interface VerifiedBackup {
  readonly authenticated: boolean
  readonly createdAt: string | undefined
  readonly release: string | undefined
  readonly installationId: string | undefined
  /** Ids of the master keys needed to decrypt the database's secrets. */
  readonly neededKeyIds: ReadonlyArray<string>
  readonly snapshots: number
  readonly builds: number
  /** Files that existing Capsules need but the backup lacks, so they have to be fetched or built again. */
  readonly absent: ReadonlyArray<NeededFile>
  /** Reasons why the backup is unreliable. Empty if it is sound. */
  readonly problems: ReadonlyArray<string>
}

/** Looks for faults in a restored database, and lists the files that existing Capsules need. */
const inspected = (keys: RestoreOptions["keys"]) =>
  Effect.gen(function* () {
    yield* SqlClient.SqlClient
    const neededKeyIds = (yield* masterKeysInUse).map(({ id }) => id)
    const keyring = yield* keys
    const unknown = neededKeyIds.filter((id) => !keyring.keys.some((key) => key.id === id))
    const unopened = unknown.length > 0 ? [] : yield* integrityFaults(keyring)
    return {
      neededKeyIds,
      needed: yield* neededFiles,
      problems: [
        ...(yield* integrityOf(false)),
        ...unknown.map((id) => `Its secrets need the master key ${id}, which these settings do not give.`),
        ...unopened.map((place) => `${place} does not open in its place.`)
      ]
    }
  })

/** Finds files in a backup that do not match their digests, and needed files that are missing. */
const checkFiles = Effect.fnUntraced(function* (
  folder: string,
  needed: ReadonlyArray<NeededFile>,
  manifest: BackupManifest | undefined
) {
  const path = yield* Path.Path
  const entries = manifest?.entries ?? []
  const problems: Array<string> = []
  for (const entry of entries) {
    if (!(yield* isWhole(entry, path.join(folder, placeOf(entry))))) {
      problems.push(`The ${entry.kind} ${entry.digest} does not match its name.`)
    }
  }
  const has = (files: ReadonlyArray<NeededFile>, { digest, kind }: NeededFile) =>
    files.some((file) => file.kind === kind && file.digest === digest)
  const absent = needed.filter((file) => !has(entries, file))
  if (manifest?.files === "included") {
    for (const file of absent.filter((file) => !has(manifest.missing, file))) {
      problems.push(`The ${file.kind} ${file.digest} is needed by a living Capsule and not in the backup.`)
    }
  }
  return { absent, problems }
})

/**
 * Restores a backup into a temporary folder, which is removed afterwards. Checks the database's pages and references, every
 * sealed value, and every file that an existing Capsule needs. Fails with `BackupRefused` if the backup cannot be restored
 * at all.
 */
export const verifyBackup = Effect.fn("verifyBackup")(
  function* (file: string, options: RestoreOptions, progress: Progress = () => Effect.void) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "svc-backup-" })
    yield* progress("Restoring into a temporary folder")
    const { authenticated, manifest } = yield* restoreFrom(file, folder, options)
    yield* progress("Opening every sealed value")
    const inside = yield* withReadOnlyDatabase(
      path.join(folder, databaseName),
      Effect.succeed(false),
      inspected(options.keys)
    )
    yield* progress("Reading every snapshot and build")
    const files = yield* checkFiles(folder, inside.needed, manifest)
    const count = (kind: NeededFile["kind"]) => manifest?.entries.filter((entry) => entry.kind === kind).length ?? 0
    return {
      authenticated,
      createdAt: manifest?.createdAt,
      release: manifest?.release,
      installationId: manifest?.installationId,
      neededKeyIds: inside.neededKeyIds,
      snapshots: count("snapshot"),
      builds: count("build"),
      absent: files.absent,
      problems: [...inside.problems, ...files.problems]
    } satisfies VerifiedBackup
  },
  Effect.scoped,
  (effect, file) =>
    Effect.catchTags(effect, {
      PlatformError: (error) => new BackupRefused({ message: `${file} cannot be verified: ${error.message}.` }),
      SqlError: (error) => new BackupRefused({ message: `${file} cannot be verified: ${error.message}` }),
      DatabaseUnreadable: (error) => new BackupRefused({ message: `${file} cannot be verified: ${error.message}` })
    })
)
