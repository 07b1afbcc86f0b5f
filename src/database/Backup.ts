import { pathToFileURL } from "node:url"
import { Effect, FileSystem, Layer, Path } from "effect"
import { SqlClient } from "effect/sql"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { DatabaseFile } from "../../actors/base/database/DatabaseFile.ts"
import { now } from "../../actors/base/Identity.ts"
import { masterKeysInUse } from "../../actors/base/vault/DataKeys.ts"
import type { Keyring } from "../../actors/base/vault/MasterKey.ts"
import { version } from "../Version.ts"
import { appendFiles, type Progress } from "./BackupFiles.ts"
import { BackupRefused } from "./BackupRefused.ts"
import { sealBackup } from "./BackupSeal.ts"
import { readInstallation } from "./Installation.ts"
import { neededFiles } from "./NeededFiles.ts"
import { layerReader } from "./SqliteClient.ts"
import { newestKnown } from "./Migrations.ts"
import { recordedVersion } from "./move/MoveMarks.ts"

/** Flushes the contents and the directory entry of `file` to disk. */
export const syncFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* Effect.scoped(Effect.flatMap(fs.open(file, { flag: "r+" }), (handle) => handle.sync))
  yield* Effect.scoped(Effect.flatMap(fs.open(path.dirname(file), { flag: "r" }), (handle) => handle.sync))
})

/** Creates a client for a database file that no process writes to. The client creates no files next to the database. */
const layerOfCopy = (file: string) =>
  Layer.effect(SqlClient.SqlClient, ReadSql).pipe(Layer.provide(layerReader(`${pathToFileURL(file).href}?immutable=1`)))

/** Collects the facts that the manifest contains about the copy, and lists the files that existing Capsules need. */
const factsOf = (file: string) =>
  Effect.gen(function* () {
    const schemaVersion = (yield* recordedVersion) ?? 0
    const installation = yield* readInstallation
    // Read nothing but the keys from an older database, because the other queries do not match its tables.
    const needed = schemaVersion === newestKnown ? yield* neededFiles : []
    return {
      needed,
      facts: {
        createdAt: yield* now,
        release: version,
        schemaVersion,
        neededKeyIds: (yield* masterKeysInUse).map(({ id }) => id),
        ...(installation === undefined ? {} : { installationId: installation.id })
      }
    }
  }).pipe(Effect.provide(layerOfCopy(file), { local: true }))

export interface BackupOptions {
  /** Data folder with the snapshots and builds to include. If absent, they are omitted. */
  readonly filesOf?: string | undefined
  readonly progress?: Progress
}

/**
 * Writes a consistent copy of the live database, and the snapshots and builds that existing Capsules need, to a new file with
 * mode 0600. Authenticates the backup with the master key. The secrets in the backup remain sealed. The master key is not
 * included and must be kept separately. Fails with `BackupRefused` if the file exists or cannot be written, or if the keys
 * do not match the database.
 */
export const backupTo = Effect.fn("backupTo")(
  function* (file: string, keyring: Keyring, { filesOf, progress = () => Effect.void }: BackupOptions = {}) {
    const fs = yield* FileSystem.FileSystem
    const databaseFile = yield* DatabaseFile
    if (yield* fs.exists(file)) {
      return yield* new BackupRefused({ message: `${file} exists already. Name a new file.` })
    }
    const partial = `${file}.partial`
    return yield* Effect.gen(function* () {
      // Create an empty file first, so that its mode is correct before any byte is written.
      yield* fs.writeFile(partial, new Uint8Array(), { flag: "w", mode: 0o600 })
      yield* progress("Copying the database")
      yield* databaseFile.backup(partial)
      const databaseBytes = Number((yield* fs.stat(partial)).size)
      const { facts, needed } = yield* factsOf(partial)
      const unknown = facts.neededKeyIds.filter((id) => !keyring.keys.some((key) => key.id === id))
      if (unknown.length > 0) {
        return yield* new BackupRefused({
          message: `The database needs the master keys ${unknown.join(", ")}, and these settings give ${keyring.active.id}: a backup that is authenticated with another key could not be restored. Run this with the settings of the server.`
        })
      }
      // Copy the archives after the database. Archives of a commit never change, and archives that this copy refers to are not
      // removed for a day.
      const isWhole = filesOf !== undefined && facts.schemaVersion === newestKnown
      const files = isWhole ? yield* appendFiles(partial, filesOf, needed, progress) : { entries: [], missing: [] }
      yield* progress("Computing digests")
      yield* sealBackup(partial, keyring, {
        ...facts,
        ...files,
        databaseBytes,
        files: isWhole ? "included" : "left_out"
      })
      yield* syncFile(partial)
      yield* fs.rename(partial, file)
      yield* syncFile(file)
      return {
        ...files,
        files: isWhole ? ("included" as const) : ("left_out" as const),
        neededKeyIds: facts.neededKeyIds
      }
    }).pipe(Effect.onError(() => Effect.ignore(fs.remove(partial, { force: true }))))
  },
  (effect, file) =>
    Effect.catchTags(effect, {
      PlatformError: (error) =>
        new BackupRefused({ message: `The backup ${file} cannot be written: ${error.message}.` }),
      SqlError: (error) => new BackupRefused({ message: `The backup ${file} cannot be written: ${error.message}` })
    })
)
