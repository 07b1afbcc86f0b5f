import { expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../../src/database/Database.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { networkFileSystemName } from "../../../src/database/FileSystemKind.ts"
import { it } from "../../support/Effect.ts"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "svc-test-" }))
const platform = Effect.provide(NodeServices.layer)

it.live("opening a data folder creates a private folder, or makes an existing folder private", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* temporary
    const folder = `${root}/deep/data`
    yield* Effect.provide(DataFolder, DataFolder.layer(folder))
    expect((yield* fs.stat(folder)).mode & 0o777).toBe(0o700)
    yield* fs.chmod(folder, 0o755)
    yield* Effect.provide(DataFolder, DataFolder.layer(folder))
    expect((yield* fs.stat(folder)).mode & 0o777).toBe(0o700)
  }).pipe(platform)
)

it.live("a data folder refuses a second server until the first server has stopped", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const open = Layer.build(Layer.fresh(DataFolder.layer(folder)))
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* open
        const error = yield* Effect.flip(Effect.scoped(open))
        expect(error._tag).toBe("InstanceAlreadyRunning")
        expect(error.message).toContain(`process ${process.pid}`)
        // The refused attempt must not release the first server's lock.
        expect((yield* Effect.flip(Effect.scoped(open)))._tag).toBe("InstanceAlreadyRunning")
      })
    )
    yield* Effect.scoped(open)
  }).pipe(platform)
)

it.live("a killed process leaves no lock on its data folder", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const script = `
      import { NodeServices } from "@effect/platform-node"
      import { Effect, Layer } from "effect"
      import { DataFolder } from "${import.meta.dir}/../../../src/database/DataFolder.ts"
      Effect.runPromise(Effect.scoped(Layer.build(DataFolder.layer(${JSON.stringify(folder)})).pipe(
        Effect.andThen(Effect.sync(() => process.stdout.write("claimed"))), Effect.andThen(Effect.promise(() => Bun.stdin.text())), Effect.provide(NodeServices.layer))))`
    const child = Bun.spawn([process.execPath, "-e", script], {
      stdin: "pipe",
      stdout: "pipe",
      cwd: `${import.meta.dir}/../../..`
    })
    const reader = child.stdout.getReader()
    yield* Effect.promise(() => reader.read())
    const error = yield* Effect.flip(Effect.scoped(Layer.build(DataFolder.layer(folder))))
    expect(error.message).toContain(`process ${child.pid}`)
    child.kill("SIGKILL")
    yield* Effect.promise(() => child.exited)
    yield* Effect.scoped(Layer.build(DataFolder.layer(folder)))
  }).pipe(platform)
)

it.live("every file of a served data folder is private", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* temporary
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (v TEXT)`
      const names = yield* fs.readDirectory(folder)
      expect(names).toEqual(expect.arrayContaining(["svc.sqlite", "svc.sqlite-wal", "svc.sqlite-shm", "instance.lock"]))
      for (const name of names)
        expect([name, (yield* fs.stat(`${folder}/${name}`)).mode & 0o777]).toEqual([name, 0o600])
    }).pipe(Effect.provide(Layer.fresh(Database.layer.pipe(Layer.provide(DataFolder.layer(folder))))))
  }).pipe(platform)
)

it.live("another process is still locked out after this process fails to take the lock", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    yield* Layer.build(Layer.fresh(DataFolder.layer(folder)))
    yield* Effect.flip(Effect.scoped(Layer.build(Layer.fresh(DataFolder.layer(folder)))))
    const script = `
      import { DatabaseSync } from "node:sqlite"
      try {
        new DatabaseSync(${JSON.stringify(`${folder}/instance.lock`)}, { timeout: 0 }).exec("BEGIN EXCLUSIVE")
        console.log("taken")
      } catch { console.log("held") }`
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" })
    expect((yield* Effect.promise(() => new Response(child.stdout).text())).trim()).toBe("held")
  }).pipe(platform)
)

it.live("svc explains why it cannot use a data folder", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* temporary
    yield* fs.writeFileString(`${root}/file`, "")
    const error = yield* Effect.flip(Effect.scoped(Layer.build(DataFolder.layer(`${root}/file`))))
    expect(error._tag).toBe("DataFolderUnusable")
  }).pipe(platform)
)

it.effect("svc distinguishes network file systems from local file systems", () =>
  Effect.sync(() => {
    const mountInfo = [
      "22 1 8:1 / / rw - ext4 /dev/sda1 rw",
      "40 22 0:40 / /mnt/ssh rw - fuse.sshfs host:/ rw",
      "41 22 0:41 / /mnt/usb\\040disk rw - fuseblk /dev/sdb1 rw"
    ].join("\n")
    const name = (magic: bigint, path: string) => networkFileSystemName({ magic, mountInfo, path })
    expect(name(0x6969n, "/")).toBe("NFS")
    expect(name(0xff534d42n, "/")).toBe("CIFS")
    // On some platforms, statfs reports the type as a signed number.
    expect(name(-0xacb2ben, "/")).toBe("CIFS")
    expect(name(0xef53n, "/srv")).toBeUndefined()
    expect(name(0x65735546n, "/mnt/ssh/data")).toBe("fuse.sshfs")
    expect(name(0x65735546n, "/mnt/usb disk/data")).toBeUndefined()
    expect(name(0x65735546n, "/mnt/sshother")).toBeUndefined()
  })
)

it.live("a restarted server accepts the tables that it created, and rejects tables from a newer release", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const database = Layer.fresh(Database.layer.pipe(Layer.provide(DataFolder.layer(folder))))
    yield* Effect.scoped(Layer.build(database))
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO svc_migrations (migration_id, name) VALUES (999, 'later')`
      yield* sql`UPDATE installation SET release = '9.8.7'`
    }).pipe(Effect.provide(database))
    const error = yield* Effect.flip(Effect.scoped(Layer.build(database)))
    expect([error._tag, error.message]).toEqual(["DatabaseTooNew", expect.stringContaining("Start svc 9.8.7")])
  }).pipe(platform)
)
