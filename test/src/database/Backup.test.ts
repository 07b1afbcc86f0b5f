import { expect } from "bun:test"
import { Effect, FileSystem, Layer, Path } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseFile } from "../../../actors/base/database/DatabaseFile.ts"
import type { Keyring } from "../../../actors/base/vault/MasterKey.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { backupTo } from "../../../src/database/Backup.ts"
import * as Database from "../../../src/database/Database.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { restoreFrom } from "../../../src/database/Restore.ts"
import { it } from "../../support/Effect.ts"
import { newKeyring, noKeys } from "./support/Keyrings.ts"
import { placeMigratedDatabase } from "../../support/MigratedDatabase.ts"

/** Creates a temporary folder with a data folder `a`. */
const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  Effect.tap(fs.makeTempDirectoryScoped({ prefix: "svc-test-" }), (root) => placeMigratedDatabase(`${root}/a`))
)
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

const sealedWith = (keyring: Keyring) => ({ keys: Effect.succeed(keyring), acceptUnauthenticated: false })

it.live("an online backup can be restored into an empty folder", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* temporary
    const keyring = yield* newKeyring
    const file = `${root}/copy.sqlite`
    yield* Effect.gen(function* () {
      yield* insertUser
      yield* backupTo(file, keyring)
      const again = yield* Effect.flip(backupTo(file, keyring))
      expect(again.message).toContain("exists already")
    }).pipe(Effect.provide(databaseIn(`${root}/a`)))
    expect((yield* fs.stat(file)).mode & 0o777).toBe(0o600)
    yield* restoreFrom(file, `${root}/b`, sealedWith(keyring))
    const rows = yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT email FROM users`).pipe(
      Effect.provide(databaseIn(`${root}/b`))
    )
    expect(rows[0]).toMatchObject({ email: "a@example.com" })
    const occupied = yield* Effect.flip(restoreFrom(file, `${root}/b`, sealedWith(keyring)))
    expect(occupied.message).toContain("holds a database already")
  }).pipe(Effect.provide(platform))
)

it.live("restore refuses a file that is not a backup and leaves the folder unchanged", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* temporary
    const refusal = (name: string) =>
      Effect.map(
        Effect.flip(restoreFrom(`${root}/${name}`, `${root}/b`, { keys: noKeys, acceptUnauthenticated: true })),
        (error) => [error._tag, error.message]
      )
    yield* fs.writeFileString(`${root}/text`, "not a database, but long enough to be read as a header ".repeat(40))
    expect(yield* refusal("text")).toEqual(["BackupRefused", expect.stringContaining("is no database")])
    yield* fs.writeFileString(`${root}/empty`, "")
    expect(yield* refusal("empty")).toEqual(["BackupRefused", expect.stringContaining("is no database")])
    expect(yield* refusal("missing")).toEqual(["BackupRefused", expect.stringContaining("There is no file")])
    expect(yield* fs.exists(`${root}/b`)).toBe(false)
    yield* fs.writeFileString(`${root}/head`, `SQLite format 3\0${"not a database ".repeat(99)}`)
    expect((yield* refusal("head"))[0]).toBe("BackupRefused")
    expect((yield* fs.readDirectory(`${root}/b`)).filter((name) => name.endsWith(".sqlite"))).toEqual([])
  }).pipe(Effect.provide(platform))
)

it.live("restore refuses to run while a server uses the folder", () =>
  Effect.gen(function* () {
    const root = yield* temporary
    const error = yield* Effect.flip(
      restoreFrom(`${root}/a/svc.sqlite`, `${root}/a`, { keys: noKeys, acceptUnauthenticated: true })
    ).pipe(Effect.provide(databaseIn(`${root}/a`)))
    expect(error._tag).toBe("InstanceAlreadyRunning")
  }).pipe(Effect.provide(platform))
)

/** Makes a backup of a database with more than one block, and returns the backup with its keyring. */
const sealed = Effect.fnUntraced(function* (root: string) {
  const keyring = yield* newKeyring
  const file = `${root}/copy.sqlite`
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* insertUser
    yield* sql`UPDATE users SET display_name = ${"x".repeat(5 * 1024 * 1024)}`
    yield* backupTo(file, keyring)
  }).pipe(Effect.provide(databaseIn(`${root}/a`)))
  return { file, keyring }
})

const changed = (bytes: Uint8Array, at: number) => {
  const copy = bytes.slice()
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

const joined = (...parts: ReadonlyArray<Uint8Array>) => new Uint8Array(Buffer.concat(parts))

it.live("restore refuses an edited backup, and reports the changed part", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* temporary
    const { file, keyring } = yield* sealed(root)
    const bytes = Uint8Array.from(yield* fs.readFile(file))
    const manifestAt = Buffer.from(bytes).lastIndexOf('{"format":"svc.backup@v2"')
    const edits: ReadonlyArray<readonly [name: string, edited: Uint8Array, reason: string]> = [
      ["a bit of the first block", changed(bytes, 5000), "block 1 of 2"],
      ["a bit of the second block", changed(bytes, 4 * 1024 * 1024 + 5000), "block 2 of 2"],
      ["a digest of the manifest", changed(bytes, manifestAt + 300), "its manifest"],
      ["the keyed digest", changed(bytes, bytes.length - 40), "its manifest does not match the keyed digest"],
      ["the length of the manifest", changed(bytes, bytes.length - 17), "its manifest"],
      ["a page put in", joined(bytes.slice(0, 4096), bytes), "instead of"],
      ["a page cut out", bytes.slice(4096), "is no database"],
      [
        "a page cut out of the middle",
        joined(bytes.slice(0, 40_960), bytes.slice(45_056)),
        "so something was cut out or put in"
      ],
      ["the end cut off", bytes.slice(0, -1), "is not authenticated"],
      ["the seal cut off", bytes.slice(0, manifestAt), "is not authenticated"]
    ]
    for (const [name, edited, reason] of edits) {
      yield* fs.writeFile(`${root}/edited`, edited)
      const error = yield* Effect.flip(restoreFrom(`${root}/edited`, `${root}/b`, sealedWith(keyring)))
      expect([name, error._tag, error.message]).toEqual([name, "BackupRefused", expect.stringContaining(reason)])
      expect(error.message).toContain(reason === "is no database" ? "no backup" : "Nothing was restored")
      expect((yield* fs.readDirectory(`${root}/b`)).filter((entry) => entry.endsWith(".sqlite"))).toEqual([])
    }
    // Even with `acceptUnauthenticated`, svc rejects an edited backup.
    yield* fs.writeFile(`${root}/edited`, changed(bytes, 5000))
    const still = yield* Effect.flip(
      restoreFrom(`${root}/edited`, `${root}/b`, { ...sealedWith(keyring), acceptUnauthenticated: true })
    )
    expect(still.message).toContain("block 1 of 2")
    const restored = yield* restoreFrom(file, `${root}/b`, sealedWith(keyring))
    expect(restored.authenticated).toBe(true)
    // The restored database must not contain the seal of the backup.
    expect(Buffer.from(yield* fs.readFile(`${root}/b/svc.sqlite`)).includes("svc-backup-seal")).toBe(false)
  }).pipe(Effect.provide(platform))
)

it.live("restore reports the master key that a backup requires", () =>
  Effect.gen(function* () {
    const root = yield* temporary
    const { file, keyring } = yield* sealed(root)
    const other = yield* newKeyring
    const foreign = yield* Effect.flip(restoreFrom(file, `${root}/b`, sealedWith(other)))
    expect(foreign.message).toContain(`was written with the master key ${keyring.active.id}`)
    expect(foreign.message).toContain(other.active.id)
    const none = yield* Effect.flip(restoreFrom(file, `${root}/b`, { keys: noKeys, acceptUnauthenticated: true }))
    expect(none.message).toBe("No master key is given.")
  }).pipe(Effect.provide(platform))
)

it.live("restore accepts an unauthenticated file only on request, and states the risk", () =>
  Effect.gen(function* () {
    const root = yield* temporary
    const file = `${root}/older.sqlite`
    yield* Effect.gen(function* () {
      yield* insertUser
      yield* (yield* DatabaseFile).backup(file)
    }).pipe(Effect.provide(databaseIn(`${root}/a`)))
    const refused = yield* Effect.flip(restoreFrom(file, `${root}/b`, { keys: noKeys, acceptUnauthenticated: false }))
    expect(refused.message).toContain("may have changed it")
    expect(refused.message).toContain("--accept-unauthenticated")
    const restored = yield* restoreFrom(file, `${root}/b`, { keys: noKeys, acceptUnauthenticated: true })
    expect(restored.authenticated).toBe(false)
  }).pipe(Effect.provide(platform))
)

it.live("restore moves the write-ahead log of a lost database aside, and does not replay it", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = yield* temporary
    const keyring = yield* newKeyring
    const file = `${root}/copy.sqlite`
    yield* fs.makeDirectory(`${root}/b`)
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* insertUser
      yield* (yield* DatabaseFile).checkpoint
      yield* backupTo(file, keyring)
      yield* sql`UPDATE users SET email = 'b@example.com'`
      yield* fs.copyFile(`${root}/a/svc.sqlite-wal`, `${root}/b/svc.sqlite-wal`)
    }).pipe(Effect.provide(databaseIn(`${root}/a`)))
    const { aside } = yield* restoreFrom(file, `${root}/b`, sealedWith(keyring))
    expect(yield* fs.readDirectory(path.join(aside ?? ""))).toEqual(["svc.sqlite-wal"])
    const rows = yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT email FROM users`).pipe(
      Effect.provide(databaseIn(`${root}/b`))
    )
    expect(rows[0]).toMatchObject({ email: "a@example.com" })
  }).pipe(Effect.provide(platform))
)
