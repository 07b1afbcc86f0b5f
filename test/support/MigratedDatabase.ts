import { randomBytes } from "node:crypto"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer } from "effect"
import * as Database from "../../src/database/Database.ts"
import { DataFolder, databaseName } from "../../src/database/DataFolder.ts"

/** The migrated file, and the position of the installation's identifier in that file. */
const migrated = Effect.runSync(
  Effect.cached(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
      // Closing the last connection makes SQLite move the write-ahead log into the file.
      yield* Effect.scoped(Layer.build(Database.layer.pipe(Layer.provide(DataFolder.layer(folder)))))
      const file = `${folder}/${databaseName}`
      const bytes = Buffer.from(yield* files.readFile(file))
      const database = new DatabaseSync(file, { readOnly: true })
      const id = String(database.prepare("SELECT installation_id AS id FROM installation").get()?.["id"])
      database.close()
      const at = bytes.indexOf(id)
      if (at < 0 || bytes.includes(id, at + 1)) return yield* Effect.die("The identifier is not in exactly one place.")
      return { bytes, at, length: id.length }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.orDie)
  )
)

const newInstallationId = () => `inst_${randomBytes(12).toString("hex")}`

/**
 * Copies a migrated database, as a separate installation, into a new or empty data folder. Does nothing to any other folder. The
 * migrations run once per process, because few tests are about migrations.
 */
export const placeMigratedDatabase = Effect.fnUntraced(function* (folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (readdirSync(folder).length > 0) return
  const { at, bytes, length } = yield* migrated
  const own = Buffer.from(bytes)
  if (own.write(newInstallationId(), at) !== length) return yield* Effect.die("The identifier has another length.")
  writeFileSync(`${folder}/${databaseName}`, own, { mode: 0o600 })
})

/** Creates a data folder with a migrated database. */
export const migratedFolder = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-data-" })
  yield* placeMigratedDatabase(folder)
  return folder
})
