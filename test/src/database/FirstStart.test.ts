import { describe, expect } from "bun:test"
import { DatabaseSync } from "node:sqlite"
import { Effect, FileSystem, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseFile } from "../../../actors/base/database/DatabaseFile.ts"
import { platform } from "../../../src/composition/Platform.ts"
import * as Database from "../../../src/database/Database.ts"
import { DatabasePresence } from "../../../src/database/DatabasePresence.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { ExpectedInstallation } from "../../../src/database/FirstStart.ts"
import { readInstallation } from "../../../src/database/Installation.ts"
import { it } from "../../support/Effect.ts"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "svc-test-" }))

const databaseIn = (folder: string, expected: Partial<typeof ExpectedInstallation.Service> = {}) =>
  Layer.fresh(Database.layer.pipe(Layer.provideMerge(DataFolder.layer(folder)))).pipe(
    Layer.provide(Layer.succeed(ExpectedInstallation, { isNew: false, id: undefined, ...expected }))
  )

const opened = (folder: string, expected?: Partial<typeof ExpectedInstallation.Service>) =>
  readInstallation.pipe(
    Effect.map((installation) => installation?.id ?? ""),
    Effect.provide(databaseIn(folder, expected))
  )

const refused = (folder: string, expected?: Partial<typeof ExpectedInstallation.Service>) =>
  Effect.map(Effect.flip(opened(folder, expected)), (error) => [error._tag, String(error.message)])

const live = (name: string, body: Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>) =>
  it.live(name, () => body.pipe(Effect.provide(platform)))

const vanished = (...parts: ReadonlyArray<string>) => [
  "DatabaseVanished",
  expect.stringMatching(new RegExp(parts.join(".*")))
]

describe("Missing databases", () => {
  live(
    "an empty data folder becomes a new installation, and remains that installation at the next startup",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* temporary
      const first = yield* opened(`${root}/a`)
      expect(first).toMatch(/^inst_[0-9a-f]{24}$/)
      expect(JSON.parse(yield* fs.readFileString(`${root}/a/instance.json`))).toMatchObject({ installationId: first })
      expect(yield* fs.exists(`${root}/a/instance.creating`)).toBe(false)
      expect(yield* opened(`${root}/a`)).toBe(first)
      expect(yield* opened(`${root}/b`)).not.toBe(first)
    })
  )

  live(
    "a data folder with part of an installation but no database is refused and left unchanged",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* temporary
      const emptied = new DatabaseSync(`${root}/tableless`)
      emptied.exec("PRAGMA journal_mode=DELETE; CREATE TABLE a (b); DROP TABLE a")
      emptied.close()
      const foreign = new DatabaseSync(`${root}/foreign`)
      foreign.exec("CREATE TABLE of_something_else (b)")
      foreign.close()
      const remains: ReadonlyArray<readonly [named: string, put: (at: string) => Effect.Effect<void, unknown>]> = [
        ["master.key", (at) => fs.writeFileString(`${at}/master.key`, "{}")],
        ["instance.json", (at) => fs.writeFileString(`${at}/instance.json`, '{"pid":7}')],
        [
          "snapshots",
          (at) =>
            Effect.andThen(
              fs.makeDirectory(`${at}/snapshots/ab`, { recursive: true }),
              fs.writeFileString(`${at}/snapshots/ab/x`, "")
            )
        ],
        ["svc.sqlite", (at) => fs.writeFileString(`${at}/svc.sqlite`, "")],
        ["svc.sqlite", (at) => fs.copyFile(`${root}/tableless`, `${at}/svc.sqlite`)],
        ["svc.sqlite", (at) => fs.copyFile(`${root}/foreign`, `${at}/svc.sqlite`)],
        ["svc.sqlite-wal", (at) => fs.writeFileString(`${at}/svc.sqlite-wal`, "frames of a lost database")],
        [
          "svc.sqlite, svc.sqlite-wal",
          (at) =>
            Effect.andThen(
              fs.writeFileString(`${at}/svc.sqlite`, ""),
              fs.writeFileString(`${at}/svc.sqlite-wal`, "frames of a lost database")
            )
        ]
      ]
      for (const [index, [named, put]] of remains.entries()) {
        const at = `${root}/${index}`
        yield* fs.makeDirectory(at)
        yield* put(at)
        expect([index, ...(yield* refused(at))]).toEqual([
          index,
          ...vanished(`holds ${named}, but no database`, "--new")
        ])
        // svc has created nothing and has not deleted the write-ahead log, so the operator can restore the log together with
        // its database.
        expect(yield* fs.exists(`${at}/instance.creating`)).toBe(false)
        if (named.includes("-wal")) {
          expect(yield* fs.readFileString(`${at}/svc.sqlite-wal`)).toBe("frames of a lost database")
        }
      }
    })
  )

  live(
    "a data folder is refused after its database was removed, and served again once the database is back",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const at = `${yield* temporary}/data`
      const id = yield* opened(at)
      yield* fs.rename(`${at}/svc.sqlite`, `${at}/elsewhere`)
      expect(yield* refused(at)).toEqual(vanished("holds instance.json"))
      yield* fs.rename(`${at}/elsewhere`, `${at}/svc.sqlite`)
      expect(yield* opened(at)).toBe(id)
    })
  )

  live(
    "startup with --new moves the remains of an installation aside, but refuses other folders",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const at = `${yield* temporary}/data`
      const id = yield* opened(at)
      yield* fs.writeFileString(`${at}/svc.sqlite`, "")
      yield* fs.makeDirectory(`${at}/snapshots/ab`, { recursive: true })
      yield* fs.writeFileString(`${at}/master.key`, "{}")
      expect(yield* refused(at)).toEqual(vanished("svc.sqlite"))
      expect(yield* opened(at, { isNew: true })).not.toBe(id)
      const aside = (yield* fs.readDirectory(at)).find((name) => name.startsWith("set-aside-")) ?? ""
      expect((yield* fs.readDirectory(`${at}/${aside}`)).toSorted()).toEqual([
        "instance.json",
        "snapshots",
        "svc.sqlite"
      ])
      expect(yield* fs.exists(`${at}/master.key`)).toBe(true)
      // If the flag remains in a unit file, the next startup reports it.
      expect(yield* refused(at, { isNew: true })).toEqual([
        "InstallationMismatch",
        expect.stringContaining("Start without --new")
      ])
    })
  )

  live(
    "if a first startup is killed at any point, the next startup continues it without --new",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* temporary
      const killedAt: ReadonlyArray<(at: string) => Effect.Effect<void, unknown>> = [
        () => Effect.void,
        (at) => fs.writeFileString(`${at}/svc.sqlite`, ""),
        (at) => fs.copyFile(`${root}/untouched`, `${at}/svc.sqlite`)
      ]
      const untouched = new DatabaseSync(`${root}/untouched`)
      untouched.exec(
        "PRAGMA journal_mode=WAL; CREATE TABLE svc_migrations (migration_id INTEGER PRIMARY KEY NOT NULL, created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, name VARCHAR(255) NOT NULL)"
      )
      untouched.close()
      for (const [index, killed] of killedAt.entries()) {
        const at = `${root}/${index}`
        yield* fs.makeDirectory(at)
        yield* fs.writeFileString(`${at}/instance.creating`, "")
        yield* killed(at)
        expect(yield* opened(at)).toStartWith("inst_")
        expect(yield* fs.exists(`${at}/instance.creating`)).toBe(false)
      }
      // Simulates a server that was killed between the last two steps. The folder already records its database, so the mark
      // no longer excuses a missing database.
      const at = `${root}/late`
      yield* opened(at)
      yield* fs.writeFileString(`${at}/instance.creating`, "")
      yield* fs.remove(`${at}/svc.sqlite`)
      expect(yield* refused(at)).toEqual(vanished("instance.json"))
    })
  )
})

describe("Foreign databases", () => {
  live(
    "startup refuses a data folder with the database of another installation, and changes neither of them",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* temporary
      const a = yield* opened(`${root}/a`)
      const b = yield* opened(`${root}/b`)
      yield* fs.copyFile(`${root}/b/svc.sqlite`, `${root}/a/svc.sqlite`)
      expect(yield* refused(`${root}/a`)).toEqual([
        "InstallationMismatch",
        expect.stringMatching(new RegExp(`${b}.*${a}`))
      ])
      // The operator may confirm that the database belongs to this folder.
      yield* fs.remove(`${root}/a/instance.json`)
      expect(yield* opened(`${root}/a`)).toBe(b)
    })
  )

  live(
    "an empty data folder is refused if the settings specify the id of an existing installation",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* temporary
      const id = yield* opened(`${root}/a`)
      expect(yield* opened(`${root}/a`, { id })).toBe(id)
      yield* fs.makeDirectory(`${root}/mount`)
      expect(yield* refused(`${root}/mount`, { id })).toEqual([
        "InstallationMismatch",
        expect.stringContaining("Is the right disk mounted there?")
      ])
      expect(yield* fs.exists(`${root}/mount/svc.sqlite`)).toBe(false)
      expect((yield* refused(`${root}/a`, { id: "inst_0" }))[0]).toBe("InstallationMismatch")
    })
  )
})

describe("Running servers", () => {
  live(
    "a running server detects that its database file is gone or has been replaced",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const at = `${yield* temporary}/data`
      yield* Effect.gen(function* () {
        const { look } = yield* DatabasePresence
        yield* (yield* DatabaseFile).checkpoint
        expect(yield* look).toBe("present")
        yield* fs.rename(`${at}/svc.sqlite`, `${at}/aside.sqlite`)
        expect(yield* look).toBe("missing")
        yield* fs.copyFile(`${at}/aside.sqlite`, `${at}/svc.sqlite`)
        expect(yield* look).toBe("replaced")
        yield* fs.rename(`${at}/aside.sqlite`, `${at}/svc.sqlite`)
        expect(yield* look).toBe("present")
        yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`)
      }).pipe(Effect.provide(databaseIn(at)))
    })
  )
})
