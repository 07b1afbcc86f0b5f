import { pathToFileURL } from "node:url"
import { Effect, FileSystem, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { layerReader } from "./SqliteClient.ts"
import { DanglingRow, IntegrityFinding } from "./IntegrityRows.ts"
import { rowShape } from "../../actors/base/database/Table.ts"

/** Raised if the database cannot currently be read without changing it. */
export class DatabaseUnreadable extends Schema.TaggedError<DatabaseUnreadable>()("DatabaseUnreadable", {
  message: Schema.String
}) {}

/**
 * Decides how to read a database without changing the folder. If another process has the database open, or was killed while
 * it had it open, the read uses the existing shared memory file and does not change it. A cleanly closed database has
 * neither a shared memory file nor a log, and an ordinary read connection would create both.
 */
const wayOf = Effect.fnUntraced(function* (file: string, isServed: boolean) {
  const files = yield* FileSystem.FileSystem
  const sizeOf = (name: string) =>
    Effect.orElseSucceed(
      Effect.map(files.stat(name), ({ size }) => Number(size)),
      () => -1
    )
  const [log, shared] = yield* Effect.all([sizeOf(`${file}-wal`), sizeOf(`${file}-shm`)])
  if (shared >= 0) return "readonly_shm=1"
  return isServed || log > 0 ? "unseen" : "immutable=1"
})

const readAs = (file: string, way: string) => {
  const reader = layerReader(`${pathToFileURL(file).href}?${way}`)
  return Layer.effect(SqlClient.SqlClient, ReadSql).pipe(Layer.provideMerge(reader))
}

/**
 * Passes a read-only client of a database file to `use`, without creating or changing anything. Works while a server is
 * using the database. Repeats reads that a starting server may have disturbed. Fails with `DatabaseUnreadable`, or with
 * `SqlError` if the file cannot be read.
 */
export const withReadOnlyDatabase = <A, E, R, R2>(
  file: string,
  isServed: Effect.Effect<boolean, never, R2>,
  use: Effect.Effect<A, E, R | SqlClient.SqlClient>
) => {
  const once = Effect.gen(function* () {
    const way = yield* wayOf(file, yield* isServed)
    if (way === "unseen") {
      return yield* new DatabaseUnreadable({
        message: `${file} is being opened, or was left behind by a copy of the folder or a crash without its -shm file. Look again once a server is ready on it.`
      })
    }
    const found = yield* Effect.exit(Effect.provide(use, readAs(file, way), { local: true }))
    const isDisturbed = way === "immutable=1" && (yield* wayOf(file, yield* isServed)) !== way
    return { found, isDisturbed }
  })
  return Effect.flatMap(once, (first) => (first.isDisturbed ? Effect.flatMap(once, ({ found }) => found) : first.found))
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const TableName = rowShape({ name: Schema.String })

/**
 * Returns the faults in the database, one per line. With `isServed`, checks one table at a time, because a long read of the
 * whole file would prevent the server from checkpointing its log. Such a check skips pages that do not belong to any table.
 */
export const integrityOf = Effect.fn("integrityOf")(function* (isServed: boolean) {
  const sql = yield* SqlClient.SqlClient
  const findings: Array<string> = []
  const run = Effect.fnUntraced(function* (table: string | undefined) {
    const part = sql.literal(table === undefined ? "" : `(${quoted(table)})`)
    const lines = yield* IntegrityFinding.rowsOnce(sql)`PRAGMA integrity_check${part}`
    findings.push(...lines.map(({ integrity_check }) => integrity_check).filter((line) => line !== "ok"))
    const dangling = yield* DanglingRow.rowsOnce(sql)`PRAGMA foreign_key_check${part}`
    findings.push(...dangling.map((row) => `A row of ${row.table} refers to a missing row of ${row.parent}.`))
  })
  if (!isServed) yield* run(undefined)
  else {
    const tables = yield* TableName.rowsOnce(sql)`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`
    yield* Effect.forEach(tables, ({ name }) => Effect.andThen(run(name), Effect.yieldNow), { discard: true })
  }
  return findings
})
