import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { migrate, migrations } from "../../../src/database/Migrations.ts"
import { layerWriter } from "../../../src/database/SqliteClient.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { migrateBy } from "./support/EarlierRelease.ts"
import { releasedMigrations } from "./support/MigrationFingerprints.ts"
import { representativeRows } from "./support/RepresentativeRows.ts"

type Row = Readonly<Record<string, unknown>>

const numberOf = (name: string) => Number.parseInt(name, 10)
const fingerprint = (statements: ReadonlyArray<string> | undefined) =>
  createHash("sha256").update(JSON.stringify(statements)).digest("hex")

describe("Released migrations", () => {
  for (const [name, digest] of Object.entries(releasedMigrations)) {
    test(`the migration ${name} is unchanged since its release`, () => {
      expect(fingerprint(migrations[name])).toBe(digest)
    })
  }

  test("a released migration is followed only by later migrations", () => {
    const newest = Math.max(...Object.keys(releasedMigrations).map(numberOf))
    const unknown = Object.keys(migrations).filter((name) => !(name in releasedMigrations))
    expect(unknown.filter((name) => numberOf(name) <= newest)).toEqual([])
  })
})

const upTo = (version: number) =>
  Object.fromEntries(Object.entries(migrations).filter(([name]) => numberOf(name) <= version))

// The database does not have to survive a crash, so it skips disk syncs.
const unsynced = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`PRAGMA synchronous=OFF`)

/** Runs the effect on a database with this content. If there is no content, the database is empty. */
const onDatabase = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>, content?: Uint8Array) =>
  Effect.flatMap(temporaryFolder, (folder) => {
    const file = `${folder}/svc.db`
    if (content !== undefined) writeFileSync(file, content)
    return Effect.provide(Effect.andThen(unsynced, effect), layerWriter(file))
  })

/** Returns the tables, indexes and triggers that are stored in the database. */
const schemaOf = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Row>`SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name`
)

const newest = await Effect.runPromise(Effect.cached(Effect.scoped(onDatabase(Effect.andThen(migrate, schemaOf)))))

const versions = Object.keys(migrations).map(numberOf)

/** Databases without rows, one per version, each created from the previous one by the unmodified migration. */
const history = await Effect.runPromise(
  Effect.cached(
    Effect.scoped(
      Effect.gen(function* () {
        const databases = new Map<number, Uint8Array>()
        let content: Uint8Array | undefined
        for (const version of versions) {
          content = yield* onDatabase(
            Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              yield* migrateBy(upTo(version))
              yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
              const [file] = yield* sql<{ file: string }>`SELECT file FROM pragma_database_list WHERE name = 'main'`
              return readFileSync(file?.file ?? "")
            }),
            content
          )
          databases.set(version, content)
        }
        return databases
      })
    )
  )
)

const columnsByTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql<{ table: string; column: string }>`SELECT t.name AS "table", c.name AS "column"
    FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table'`
  const columns = new Map<string, Set<string>>()
  for (const { column, table } of found) columns.set(table, (columns.get(table) ?? new Set()).add(column))
  return columns
})

/** Stores the representative rows with this version's columns. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columnsOf = yield* columnsByTable
  const stored: Array<readonly [string, Row]> = []
  for (const [table, values] of representativeRows) {
    const columns = columnsOf.get(table)
    if (columns === undefined) continue
    const row = Object.fromEntries(Object.entries(values).filter(([column]) => columns.has(column)))
    yield* sql`INSERT INTO ${sql(table)} ${sql.insert(row)}`
    stored.push([table, row])
  }
  return stored
})

const countsOf = Effect.fnUntraced(function* (tables: Iterable<string>) {
  const sql = yield* SqlClient.SqlClient
  const counts: Record<string, unknown> = {}
  for (const table of tables) counts[table] = (yield* sql`SELECT COUNT(*) AS count FROM ${sql(table)}`)[0]
  return counts
})

/** Applies the changes that later migrations make to an existing row. */
const rewritten = (version: number, table: string, row: Row): Row => ({
  ...row,
  ...(version < 24 && table === "connections" && row["kind"] === "provider" ? { provider: "hashicorp/aws" } : {}),
  ...(version < 21 && table === "run_groups" ? { finished_at: row["created_at"] } : {})
})

/**
 * SQLite counts every change to tables, indexes and triggers, so the counter shows how many schema changes a migration made.
 */
const schemaChanges = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ schema_version: number }>`PRAGMA schema_version`
).pipe(Effect.map(([row]) => row?.schema_version ?? Number.NaN))

it.live("creating a new database needs one fewer schema change for each added column", () =>
  Effect.gen(function* () {
    const added = Object.values(migrations)
      .flat()
      .filter((statement) => statement.includes("ADD COLUMN"))
    const wordForWord = yield* onDatabase(schemaChanges, (yield* history).get(Math.max(...versions)))
    expect(yield* onDatabase(Effect.andThen(migrate, schemaChanges))).toBe(wordForWord - added.length)
  })
)

describe("Earlier databases", () => {
  for (const version of versions) {
    it.live(`a database of version ${version} migrates to this release's schema and keeps its rows`, () =>
      Effect.flatMap(history, (databases) =>
        onDatabase(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const stored = yield* fill
            // Skips `consumed_inputs`, because a migration fills this table with rows from the history.
            const tables = new Set(stored.map(([table]) => table).filter((table) => table !== "consumed_inputs"))
            const before = yield* countsOf(tables)
            yield* migrate
            expect(yield* countsOf(tables)).toEqual(before)
            for (const [table, row] of stored) {
              const kept = Object.entries(rewritten(version, table, row)).map(
                ([name, value]) => sql`${sql(name)} = ${value}`
              )
              const found = yield* sql`SELECT 1 AS one FROM ${sql(table)} WHERE ${sql.and(kept)}`
              expect([table, row, found.length]).toEqual([table, row, 1])
            }
            expect(yield* sql`PRAGMA foreign_key_check`).toEqual([])
            expect(yield* schemaOf).toEqual(yield* newest)
          }),
          databases.get(version)
        )
      )
    )
  }
})
