import { DatabaseSync } from "node:sqlite"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect } from "bun:test"
import { Context, Effect, Exit, FileSystem, Layer, type Redacted } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { SqlClient } from "effect/sql"
import { KillPoint } from "../../../../actors/base/KillPoint.ts"
import type { Keyring } from "../../../../actors/base/vault/MasterKey.ts"
import { loadKeyring } from "../../../../actors/base/vault/MasterKeyStore.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import type { Progress } from "../../../../src/database/BackupFiles.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import { settleInstallation } from "../../../../src/database/FirstStart.ts"
import { migrate } from "../../../../src/database/Migrations.ts"
import { moveDatabase } from "../../../../src/database/move/DatabaseMove.ts"
import { postgresSource, postgresTarget } from "../../../../src/database/move/PostgresEnd.ts"
import { sqliteSource, sqliteTarget } from "../../../../src/database/move/SqliteEnd.ts"
import { layerClients } from "../../../../src/database/postgres/PostgresClient.ts"
import * as PostgresDatabase from "../../../../src/database/postgres/PostgresDatabase.ts"
import { layerWriter } from "../../../../src/database/SqliteClient.ts"
import { fixtureFile } from "../../../upgrade/Fixture.ts"
import { it } from "../../../support/Effect.ts"
import { emptyDatabase, hasPostgres, migratedDatabase } from "../../../support/PostgresTests.ts"
import { newKeyring } from "../support/Keyrings.ts"
import { contentsOf, fillEveryTable } from "./support/WholeDatabase.ts"

const silent = () => Effect.void

const toPostgres = (folder: string, url: Redacted.Redacted, keyring: Keyring, progress: Progress = silent) =>
  Effect.flatMap(sqliteSource, (source) => moveDatabase(source, postgresTarget(url), keyring, progress)).pipe(
    Effect.provide(Layer.fresh(DataFolder.layer(folder)), { local: true })
  )

const toSqlite = (folder: string, url: Redacted.Redacted, keyring: Keyring) =>
  Effect.gen(function* () {
    return yield* moveDatabase(yield* postgresSource(url), yield* sqliteTarget, keyring, silent)
  }).pipe(Effect.provide(Layer.fresh(DataFolder.layer(folder)), { local: true }))

/** Opens the database in the data folder as a server does. */
const startSqlite = (folder: string) => Effect.provide(migrate, Layer.fresh(layerWriter(`${folder}/svc.sqlite`)))

/** Opens the database in PostgreSQL as a server with this data folder does. */
const startPostgres = (folder: string, url: Redacted.Redacted) =>
  Effect.scoped(Layer.build(PostgresDatabase.layer(url).pipe(Layer.provide(DataFolder.layer(folder)))))

const sessionWith = (url: Redacted.Redacted) =>
  Effect.map(
    Layer.build(Layer.fresh(layerClients(url, { exclusive: false, listens: false }))),
    Context.get(SqlClient.SqlClient)
  )

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "svc-move-" }))

/** Creates a data folder with a row in every table. */
const filledFolder = Effect.gen(function* () {
  const folder = yield* temporary
  yield* startSqlite(folder)
  fillEveryTable(`${folder}/svc.sqlite`)
  return folder
})

/** Unpacks the data folder of a server of an earlier release, with sealed values, audit chains, snapshots and builds. */
const realFolder = Effect.gen(function* () {
  const root = yield* temporary
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  expect(Number(yield* spawner.exitCode(ChildProcess.make("tar", ["-C", root, "-xzf", fixtureFile(72)])))).toBe(0)
  const folder = `${root}/data`
  yield* Effect.provide(Effect.andThen(migrate, settleInstallation(folder)), layerWriter(`${folder}/svc.sqlite`))
  const keyring = yield* loadKeyring({ kind: "file", file: `${folder}/master.key`, create: false }, [])
  return { folder, keyring }
})

const databaseFiles = /^(?:svc\.sqlite|moving\.sqlite|set-aside|instance\.(?:lock|holder))/

/** Digests of the files in a data folder, except its databases and its lock. */
const otherFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => `${parentPath}/${name}`.slice(folder.length + 1))
    .filter((name) => !databaseFiles.test(name))
    .toSorted()
    .map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(`${folder}/${name}`))
        .digest("hex")
    ])

const isStarted = (start: Effect.Effect<unknown, unknown, Layer.Success<typeof platform>>) =>
  Effect.map(Effect.exit(start), Exit.isSuccess)

/** Checks for each of the two databases whether a server can start on that database. */
const startable = (folder: string, url: Redacted.Redacted) =>
  Effect.all({ sqlite: isStarted(startSqlite(folder)), postgres: isStarted(startPostgres(folder, url)) })

const change = (file: string, statement: string) => {
  const database = new DatabaseSync(file)
  database.exec(statement)
  database.close()
}

describe.skipIf(!hasPostgres)("svc move", () => {
  it.live("a database with rows in every table is unchanged after a move to PostgreSQL and back", () =>
    Effect.gen(function* () {
      const folder = yield* filledFolder
      const keyring = yield* newKeyring
      const url = yield* emptyDatabase()
      change(`${folder}/svc.sqlite`, `UPDATE vault_data_keys SET master_key_id = '${keyring.active.id}'`)
      // The row of the last Run was removed, but the number of that Run must not be assigned again.
      change(`${folder}/svc.sqlite`, "DELETE FROM run_turns WHERE turn = (SELECT MAX(turn) FROM run_turns)")
      const before = contentsOf(`${folder}/svc.sqlite`)
      expect(Object.entries(before.rows).filter(([name, rows]) => rows.length === 0 && name !== "run_turns")).toEqual(
        []
      )
      const lines: Array<string> = []
      const there = yield* toPostgres(folder, url, keyring, (line) => Effect.sync(() => void lines.push(line)))
      expect(lines.filter((line) => line.startsWith("Copying"))).toHaveLength(Object.keys(before.rows).length)
      const turn = yield* Effect.scoped(
        Effect.gen(function* () {
          const sql = yield* sessionWith(url)
          const [row] = yield* sql<{ turn: number }>`INSERT INTO run_turns (slot_pool, workspace_id, subject)
            SELECT 'another', MIN(id), 'usr' FROM workspaces RETURNING turn`
          yield* sql`DELETE FROM run_turns WHERE turn = ${row?.turn ?? 0}`
          return row?.turn
        })
      )
      expect(turn).toBe((before.sequences[0]?.seq ?? 0) + 1)
      const back = yield* toSqlite(folder, url, keyring)
      expect(back.tables).toEqual(there.tables)
      const after = contentsOf(`${folder}/svc.sqlite`)
      expect(after.rows).toEqual(before.rows)
      expect(after.schema).toEqual(before.schema)
      expect(after.sequences).toEqual(before.sequences.map(({ name, seq }) => ({ name, seq: seq + 1 })))
    }).pipe(Effect.provide(platform))
  )

  it.live(
    "after a move in either direction, the data of a real server can be decrypted and its audit chains are intact",
    () =>
      Effect.gen(function* () {
        const { folder, keyring } = yield* realFolder
        const url = yield* migratedDatabase
        const before = contentsOf(`${folder}/svc.sqlite`)
        const files = otherFiles(folder)
        expect(files.map(([name]) => name)).toContain("master.key")
        const there = yield* toPostgres(folder, url, keyring)
        expect({ ...there, tables: there.tables.length > 100 }).toEqual({
          tables: true,
          chains: 2,
          faults: [],
          resumed: false
        })
        expect(otherFiles(folder)).toEqual(files)
        expect(yield* startable(folder, url)).toEqual({ sqlite: false, postgres: true })
        const back = yield* toSqlite(folder, url, keyring)
        expect([back.chains, back.faults]).toEqual([2, []])
        expect(otherFiles(folder)).toEqual(files)
        expect(contentsOf(`${folder}/svc.sqlite`).rows).toEqual(before.rows)
        expect(yield* startable(folder, url)).toEqual({ sqlite: true, postgres: false })
      }).pipe(Effect.provide(platform))
  )

  it.live("a server does not start on a moved database, and the error explains how to go back", () =>
    Effect.gen(function* () {
      const { folder, keyring } = yield* realFolder
      const url = yield* emptyDatabase()
      yield* toPostgres(folder, url, keyring)
      const sqlite = yield* Effect.flip(startSqlite(folder))
      expect([sqlite._tag, sqlite.message]).toEqual([
        "DatabaseMoved",
        expect.stringContaining("`svc move --to sqlite`")
      ])
      // svc refuses a second copy, because there would then be two current versions of the same database.
      const again = yield* Effect.flip(toPostgres(folder, yield* emptyDatabase(), keyring))
      expect(again.message).toContain("This database was moved to")
      yield* toSqlite(folder, url, keyring)
      const postgres = yield* Effect.flip(startPostgres(folder, url))
      expect([postgres._tag, postgres.message]).toEqual([
        "DatabaseMoved",
        expect.stringContaining("`svc move --to postgres`")
      ])
      const sql = yield* sessionWith(url)
      const write = yield* Effect.flip(sql`UPDATE installation SET incarnation = 99`)
      expect(String(write.reason.cause)).toContain("was moved by svc move")
    }).pipe(Effect.provide(platform))
  )

  it.live("svc lists values that PostgreSQL cannot store by table, column and key, and moves nothing", () =>
    Effect.gen(function* () {
      const { folder, keyring } = yield* realFolder
      const url = yield* emptyDatabase()
      change(
        `${folder}/svc.sqlite`,
        "UPDATE users SET display_name = 'a' || char(0) || 'b'; UPDATE installation SET incarnation = 'many'"
      )
      const error = yield* Effect.flip(toPostgres(folder, url, keyring))
      expect(error).toMatchObject({
        _tag: "ValuesUnstorable",
        values: [
          { table: "installation", column: "incarnation", key: { id: "1" }, problem: "text in a column for integer" },
          { table: "users", column: "display_name", key: { subject: expect.any(String) }, problem: "U+0000 in a text" }
        ]
      })
      const sql = yield* sessionWith(url)
      expect(yield* sql`SELECT subject FROM users`).toEqual([])
      expect(yield* isStarted(startSqlite(folder))).toBe(true)
    }).pipe(Effect.provide(platform))
  )

  it.live("svc refuses to move data into a database with rows, or into a data folder with a database", () =>
    Effect.gen(function* () {
      const { folder, keyring } = yield* realFolder
      const other = yield* realFolder
      const url = yield* emptyDatabase()
      yield* toPostgres(folder, url, keyring)
      const taken = yield* Effect.flip(toPostgres(other.folder, url, keyring))
      expect(taken.message).toContain("belongs to an installation")
      const present = yield* Effect.flip(toSqlite(other.folder, url, keyring))
      expect(present.message).toContain("contains a database already")
      expect(yield* isStarted(startSqlite(other.folder))).toBe(true)
      const running = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(
            PostgresDatabase.layer(url).pipe(Layer.provide(Layer.fresh(DataFolder.layer(yield* temporary))))
          )
          return yield* Effect.flip(toSqlite(yield* temporary, url, keyring))
        })
      )
      expect(String(running)).toMatch(/server/i)
    }).pipe(Effect.provide(platform))
  )

  it.live("a move interrupted in the middle of the copy leaves nothing in the new database, and can be repeated", () =>
    Effect.gen(function* () {
      const { folder, keyring } = yield* realFolder
      const url = yield* migratedDatabase
      const stopped = yield* Effect.exit(
        toPostgres(folder, url, keyring, (line) =>
          line.startsWith("Copying users") ? Effect.die("killed") : Effect.void
        )
      )
      expect(Exit.isFailure(stopped)).toBe(true)
      const sql = yield* sessionWith(url)
      expect(yield* sql`SELECT id FROM sources`).toEqual([])
      expect(yield* isStarted(startSqlite(folder))).toBe(true)
      expect((yield* toPostgres(folder, url, keyring)).resumed).toBe(false)
      expect(yield* sql`SELECT id FROM sources`).not.toEqual([])
    }).pipe(Effect.provide(platform))
  )

  it.live(
    "a move interrupted at each of its steps leaves at most one usable database, and repeating the move completes it",
    () =>
      Effect.gen(function* () {
        const { folder, keyring } = yield* realFolder
        const url = yield* migratedDatabase
        const before = contentsOf(`${folder}/svc.sqlite`).rows
        const dying = (point: string) => (name: string) =>
          name === `moving.${point}` ? Effect.die("killed") : Effect.void
        // The old database remains usable until svc marks it as moved, before the last two steps.
        const steps = [
          ["copied", true],
          ["verified", true],
          ["marked", false],
          ["settled", false]
        ] as const

        for (const [point, isUsable] of steps) {
          const stopped = yield* Effect.exit(
            Effect.provideService(toPostgres(folder, url, keyring), KillPoint, dying(point))
          )
          expect([point, Exit.isFailure(stopped)]).toEqual([point, true])
          expect([point, yield* startable(folder, url)]).toEqual([point, { sqlite: isUsable, postgres: false }])
        }
        expect((yield* toPostgres(folder, url, keyring)).resumed).toBe(true)
        expect(yield* startable(folder, url)).toEqual({ sqlite: false, postgres: true })

        for (const [point, isUsable] of steps) {
          const stopped = yield* Effect.exit(
            Effect.provideService(toSqlite(folder, url, keyring), KillPoint, dying(point))
          )
          expect([point, Exit.isFailure(stopped)]).toEqual([point, true])
          expect([point, yield* startable(folder, url)]).toEqual([point, { sqlite: false, postgres: isUsable }])
        }
        expect((yield* toSqlite(folder, url, keyring)).resumed).toBe(true)
        expect(yield* startable(folder, url)).toEqual({ sqlite: true, postgres: false })
        expect(contentsOf(`${folder}/svc.sqlite`).rows).toEqual(before)
      }).pipe(Effect.provide(platform)),
    300_000
  )
})
