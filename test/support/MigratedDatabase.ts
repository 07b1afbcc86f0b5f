import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer } from "effect"
import * as Database from "../../src/database/Database.ts"
import { DataFolder, databaseName } from "../../src/database/DataFolder.ts"

const migrated = Effect.runSync(
  Effect.cached(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
      // When the last connection closes, everything in the write-ahead log is moved into the file.
      yield* Effect.scoped(Layer.build(Database.layer.pipe(Layer.provide(DataFolder.layer(folder)))))
      return yield* files.readFile(`${folder}/${databaseName}`)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.orDie)
  )
)

/**
 * Puts a migrated database, as a separate installation, into a new or empty data folder; any other folder is left to the service.
 * The migrations run once per process, because most tests are about something else.
 */
export const placeMigratedDatabase = Effect.fnUntraced(function* (folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (readdirSync(folder).length > 0) return
  const bytes = yield* migrated
  const file = `${folder}/${databaseName}`
  writeFileSync(file, bytes, { mode: 0o600 })
  const database = new DatabaseSync(file)
  database.exec("UPDATE installation SET installation_id = 'inst_' || lower(hex(randomblob(12)))")
  database.close()
})

/** A data folder with a migrated database, removed with the Scope. */
export const migratedFolder = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-data-" })
  yield* placeMigratedDatabase(folder)
  return folder
})
