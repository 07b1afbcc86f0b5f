import { Effect, FileSystem, Path, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newestKnown } from "./Migrations.ts"
import { type RowOf, rowShape } from "../../actors/base/database/Table.ts"
import { Timestamp } from "../../schema/records/Primitives.ts"

export const instanceName = "instance.json"

/**
 * Record of the installation in its data folder. The database contains the same values, so a comparison detects a folder or
 * database of another installation.
 */
const Instance = Schema.Struct({
  version: Schema.Literal(1),
  installationId: Schema.String,
  createdAt: Schema.String,
  schemaVersion: Schema.Int
})
export type Instance = typeof Instance.Type
const InstanceFile = Schema.fromJsonString(Instance)

/** Contents of the file in earlier releases, which recorded the last process to use the folder. */
const EarlierFile = Schema.fromJsonString(Schema.Struct({ pid: Schema.Int }))

/** Raised if the data folder and its contents belong to different installations. Nothing was changed. */
export class InstallationMismatch extends Schema.TaggedError<InstallationMismatch>()("InstallationMismatch", {
  message: Schema.String
}) {}

/**
 * Returns the installation recorded in the folder, `absent` if the file does not exist, or `unnamed` if an earlier release
 * wrote the file. Fails with `InstallationMismatch` if the file is unreadable.
 */
export const readInstance = Effect.fn("readInstance")(
  function* (folder: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const file = path.join(folder, instanceName)
    if (!(yield* fs.exists(file))) return "absent" as const
    const text = yield* fs.readFileString(file)
    return yield* Schema.decodeEffect(InstanceFile)(text).pipe(
      Effect.catch(() => Effect.as(Schema.decodeEffect(EarlierFile)(text), "unnamed" as const)),
      Effect.mapError(
        () =>
          new InstallationMismatch({
            message: `${file} cannot be read. Put it back from a copy of the folder, or move it away where the database is known to be the right one.`
          })
      )
    )
  },
  Effect.catchTag("PlatformError", (error) => new InstallationMismatch({ message: `${error.message}.` }))
)

/** Durably replaces the contents of `file` with `text`. After a crash, the file has either the old or the new contents. */
export const writeDurably = Effect.fn("writeDurably")(function* (file: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const partial = `${file}.partial`
  yield* fs.remove(partial, { force: true })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const handle = yield* fs.open(partial, { flag: "wx", mode: 0o600 })
      yield* handle.writeAll(new TextEncoder().encode(text))
      yield* handle.sync
    })
  )
  yield* fs.rename(partial, file)
  yield* Effect.scoped(Effect.flatMap(fs.open(path.dirname(file), { flag: "r" }), (handle) => handle.sync))
})

export const writeInstance = Effect.fn("writeInstance")(function* (folder: string, instance: Instance) {
  const path = yield* Path.Path
  const text = yield* Effect.orDie(Schema.encodeEffect(InstanceFile)(instance))
  yield* writeDurably(path.join(folder, instanceName), `${text}\n`)
})

const Installation = rowShape({ id: Schema.String, createdAt: Timestamp, restoredAt: Schema.NullOr(Timestamp) })
export type Installation = RowOf<typeof Installation.columns>

/** Returns true if the database has a table of this name. */
export const hasTable = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, table: string) {
  const found = yield* sql.onDialectOrElse({
    pg: () => sql`SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = ${table}`,
    orElse: () => sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ${table}`
  }).unprepared
  return found.length > 0
})

/** Returns the installation recorded in the database, or `undefined` if an earlier release wrote it. */
export const readInstallation = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (!(yield* hasTable(sql, "installation"))) return undefined
  const [row] = yield* Installation.rowsOnce(sql)`SELECT installation_id AS id, created_at AS "createdAt",
    restored_at AS "restoredAt" FROM installation`
  return row
}).pipe(Effect.withSpan("readInstallation"))

export const instanceOf = ({ createdAt, id }: Installation): Instance => ({
  version: 1,
  installationId: id,
  createdAt,
  schemaVersion: newestKnown
})
