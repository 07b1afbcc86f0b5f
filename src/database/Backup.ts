import { pathToFileURL } from "node:url"
import { Effect, FileSystem, Layer, Path } from "effect"
import { SqlClient } from "effect/sql"
import { ReadSql } from "../../actors/database/ReadSql.ts"
import { DatabaseFile } from "../../actors/database/DatabaseFile.ts"
import { now } from "../../actors/Identity.ts"
import { masterKeysInUse } from "../../actors/vault/DataKeys.ts"
import type { Keyring } from "../../actors/vault/MasterKey.ts"
import { BackupRefused } from "./BackupRefused.ts"
import { sealBackup } from "./BackupSeal.ts"
import { readInstallation } from "./Installation.ts"
import { layerReader } from "./SqliteClient.ts"
import { NewestMigration } from "./Migrations.ts"

/** Makes the bytes and the name of `file` durable. */
export const syncFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* Effect.scoped(Effect.flatMap(fs.open(file, { flag: "r+" }), (handle) => handle.sync))
  yield* Effect.scoped(Effect.flatMap(fs.open(path.dirname(file), { flag: "r" }), (handle) => handle.sync))
})

/** A client for a database file without writers: no file is created beside it. */
const layerOfCopy = (file: string) =>
  Layer.effect(SqlClient.SqlClient, ReadSql).pipe(Layer.provide(layerReader(`${pathToFileURL(file).href}?immutable=1`)))

/** The manifest's statements about the copy, and the master keys that its secrets need. */
const factsOf = (file: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* NewestMigration.rows(sql)`SELECT MAX(migration_id) AS newest FROM svc_migrations`
    const installation = yield* readInstallation
    return {
      needed: (yield* masterKeysInUse).map(({ id }) => id),
      facts: {
        createdAt: yield* now,
        schemaVersion: row?.newest ?? 0,
        ...(installation === undefined ? {} : { installationId: installation.id })
      }
    }
  }).pipe(Effect.provide(layerOfCopy(file), { local: true }))

/**
 * Writes a consistent copy of the live database to a new file of mode 0600, authenticated with the master key. Secrets in
 * it stay sealed: the master key is not part of it and has to be kept apart. Fails with `BackupRefused` when the file
 * exists or cannot be written, or when the keys are not those of the database.
 */
export const backupTo = Effect.fn("backupTo")(
  function* (file: string, keyring: Keyring) {
    const fs = yield* FileSystem.FileSystem
    const databaseFile = yield* DatabaseFile
    if (yield* fs.exists(file)) {
      return yield* new BackupRefused({ message: `${file} exists already. Name a new file.` })
    }
    const partial = `${file}.partial`
    yield* Effect.gen(function* () {
      // Created first, so that its mode is right before any byte is written.
      yield* fs.writeFile(partial, new Uint8Array(), { flag: "w", mode: 0o600 })
      yield* databaseFile.backup(partial)
      const { facts, needed } = yield* factsOf(partial)
      const missing = needed.filter((id) => !keyring.keys.some((key) => key.id === id))
      if (missing.length > 0) {
        return yield* new BackupRefused({
          message: `The database needs the master keys ${missing.join(", ")}, and these settings give ${keyring.active.id}: a backup that is authenticated with another key could not be restored. Run this with the settings of the server.`
        })
      }
      yield* sealBackup(partial, keyring, facts)
      yield* syncFile(partial)
      yield* fs.rename(partial, file)
      yield* syncFile(file)
    }).pipe(Effect.onError(() => Effect.ignore(fs.remove(partial, { force: true }))))
  },
  (effect, file) =>
    Effect.catchTags(effect, {
      PlatformError: (error) =>
        new BackupRefused({ message: `The backup ${file} cannot be written: ${error.message}.` }),
      SqlError: (error) => new BackupRefused({ message: `The backup ${file} cannot be written: ${error.message}` })
    })
)
