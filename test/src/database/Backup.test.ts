import { expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { backupTo, restoreFrom } from "../../../src/database/Backup.ts"
import * as Database from "../../../src/database/Database.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { it } from "../../support/Effect.ts"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "svc-test-" }))
const databaseIn = (folder: string) => Layer.fresh(Database.layer.pipe(Layer.provideMerge(DataFolder.layer(folder))))

const insertUser = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`INSERT INTO users ${sql.insert({
      subject: "usr_0123456789abcdef",
      email: "a@example.com",
      is_operator: 1,
      status: "active",
      created_at: "2026-01-01T00:00:00.000Z",
      updated_at: "2026-01-01T00:00:00.000Z"
    })}`
)

it.live("what was backed up while open is there after a restore into an empty folder", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* temporary
    const file = `${root}/copy.sqlite`
    yield* Effect.gen(function* () {
      yield* insertUser
      yield* backupTo(file)
      const again = yield* Effect.flip(backupTo(file))
      expect(again.message).toContain("exists already")
    }).pipe(Effect.provide(databaseIn(`${root}/a`)))
    expect((yield* fs.stat(file)).mode & 0o777).toBe(0o600)
    yield* restoreFrom(file, `${root}/b`)
    const rows = yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT email FROM users`).pipe(
      Effect.provide(databaseIn(`${root}/b`))
    )
    expect(rows[0]).toMatchObject({ email: "a@example.com" })
    const occupied = yield* Effect.flip(restoreFrom(file, `${root}/b`))
    expect(occupied.message).toContain("holds a database already")
  }).pipe(Effect.provide(NodeServices.layer))
)

it.live("refuses what is no backup and leaves the folder as it was", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* temporary
    const refusal = (name: string) =>
      Effect.map(Effect.flip(restoreFrom(`${root}/${name}`, `${root}/b`)), (error) => [error._tag, error.message])
    yield* fs.writeFileString(`${root}/text`, "not a database, but long enough to be read as a header ".repeat(40))
    expect(yield* refusal("text")).toEqual(["BackupRefused", expect.stringContaining("is no database")])
    yield* fs.writeFileString(`${root}/empty`, "")
    expect(yield* refusal("empty")).toEqual(["BackupRefused", expect.stringContaining("is no database")])
    expect(yield* refusal("missing")).toEqual(["BackupRefused", expect.stringContaining("There is no file")])
    expect(yield* fs.exists(`${root}/b`)).toBe(false)
    yield* fs.writeFileString(`${root}/head`, `SQLite format 3\0${"not a database ".repeat(99)}`)
    expect((yield* refusal("head"))[0]).toBe("BackupRefused")
    expect((yield* fs.readDirectory(`${root}/b`)).filter((name) => name.endsWith(".sqlite"))).toEqual([])
  }).pipe(Effect.provide(NodeServices.layer))
)

it.live("refuses to restore under a running server", () =>
  Effect.gen(function* () {
    const root = yield* temporary
    const error = yield* Effect.flip(restoreFrom(`${root}/a/svc.sqlite`, `${root}/a`)).pipe(
      Effect.provide(databaseIn(`${root}/a`))
    )
    expect(error._tag).toBe("InstanceAlreadyRunning")
  }).pipe(Effect.provide(NodeServices.layer))
)
