import { describe, expect } from "bun:test"
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import * as Database from "../../../src/database/Database.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { storage } from "../../../src/composition/Storage.ts"
import { testSettings } from "../../support/ControlPlane.ts"
import { folder, live, svc } from "./support/CommandLine.ts"

type Finding = Readonly<Record<"check" | "status" | "message" | "remedy", string>>

/** Runs `svc doctor` on a data folder and returns the report by check. */
const doctor = Effect.fn("doctor")(function* (dataDir: string, environment: Readonly<Record<string, string>> = {}) {
  const provider = ConfigProvider.fromEnvRecord({ PATH: process.env["PATH"], ...environment })
  const ended = yield* svc(["doctor", "--data-dir", dataDir, "--json"]).pipe(
    Effect.provide(ConfigProvider.layer(provider))
  )
  const { findings, healthy }: { readonly findings: ReadonlyArray<Finding>; readonly healthy: boolean } = JSON.parse(
    ended.out
  )
  const of = (check: string) => findings.find((finding) => finding.check === check)
  return {
    code: ended.code,
    healthy,
    of,
    statuses: Object.fromEntries(findings.map(({ check, status }) => [check, status]))
  }
})

const stored = (dataDir: string) => Layer.fresh(Database.layer.pipe(Layer.provide(DataFolder.layer(dataDir))))

/** Prepares a data folder that a server has used and shut down cleanly. */
const usedFolder = Effect.gen(function* () {
  const dataDir = `${yield* folder}/data`
  yield* Effect.scoped(Layer.build(Layer.fresh(storage(yield* testSettings({ dataDir })))))
  return dataDir
})

/**
 * Records the names, times and digests of all files in a folder. Never use it on an open database, because reading the
 * database's files would release its locks.
 */
const contentOf = Effect.fn("contentOf")(function* (dataDir: string) {
  const files = yield* FileSystem.FileSystem
  return yield* Effect.forEach((yield* files.readDirectory(dataDir, { recursive: true })).sort(), (name) =>
    Effect.gen(function* () {
      const { mode, mtime, type } = yield* files.stat(`${dataDir}/${name}`)
      const bytes = type === "File" ? yield* files.readFile(`${dataDir}/${name}`) : new Uint8Array()
      return { name, mode, mtime, digest: createHash("sha256").update(bytes).digest("hex") }
    })
  )
})

const namesOf = (dataDir: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.readDirectory(dataDir))

/** Writes like a server, then exits as if killed by `kill -9`. */
const killedWriter = (file: string, statement: string) =>
  Effect.promise(async () => {
    const script = `
      import { DatabaseSync } from "node:sqlite"
      const database = new DatabaseSync(${JSON.stringify(file)})
      database.exec("PRAGMA journal_mode=WAL")
      database.exec(${JSON.stringify(statement)})
      process.kill(process.pid, "SIGKILL")`
    await Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "ignore", "inherit"] }).exited
  })

describe("svc doctor", () => {
  live("svc doctor creates nothing, and reports what the first startup would create", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const { code, of, statuses } = yield* doctor(`${root}/deep/data`)
      expect(code).toBe(0)
      expect(statuses).toMatchObject({ folder: "ok", disk: "ok", server: "ok", database: "ok", vault: "ok" })
      expect(of("folder")?.message).toContain("the first start creates it with mode 0700")
      expect(of("vault")?.message).toContain(`creates the master key ${root}/deep/data/master.key`)
      expect(yield* namesOf(root)).toEqual([])
    })
  )

  live("svc doctor leaves no trace in a data folder, whether its server was shut down cleanly or killed", () =>
    Effect.gen(function* () {
      const dataDir = yield* usedFolder
      const closed = yield* contentOf(dataDir)
      const first = yield* doctor(dataDir)
      expect([first.code, first.of("server")?.message]).toEqual([0, "No server is running on this folder."])
      expect(yield* contentOf(dataDir)).toEqual(closed)

      yield* killedWriter(
        `${dataDir}/svc.sqlite`,
        "INSERT INTO svc_migrations (migration_id, name) VALUES (999, 'later')"
      )
      const killed = yield* contentOf(dataDir)
      expect(killed.map(({ name }) => name)).toContain("svc.sqlite-wal")
      // `svc doctor` also reads data that exists only in the write-ahead log.
      const second = yield* doctor(dataDir)
      expect([second.code, second.of("migrations")?.status, second.of("database")?.status]).toEqual([1, "error", "ok"])
      expect(yield* contentOf(dataDir)).toEqual(killed)
    })
  )

  live("svc doctor works while a server runs, reports that server, and does not take its lock", () =>
    Effect.gen(function* () {
      const dataDir = yield* usedFolder
      yield* Layer.build(stored(dataDir))
      const before = yield* namesOf(dataDir)
      const { code, of } = yield* doctor(dataDir)
      expect(code).toBe(0)
      expect(of("server")).toMatchObject({
        status: "ok",
        message: expect.stringMatching(
          new RegExp(`^A server is running on this folder since 20.*Z, process ${process.pid}\\.$`)
        )
      })
      expect(of("database")?.message).toStartWith("Every table of the database is sound")
      expect(of("vault")?.status).toBe("ok")
      expect(yield* namesOf(dataDir)).toEqual(before)
      const script = `
        import { DatabaseSync } from "node:sqlite"
        try {
          new DatabaseSync(${JSON.stringify(`${dataDir}/instance.lock`)}, { timeout: 0 }).exec("BEGIN EXCLUSIVE")
          console.log("taken")
        } catch { console.log("held") }`
      const other = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" })
      expect((yield* Effect.promise(() => new Response(other.stdout).text())).trim()).toBe("held")
    })
  )

  live("svc doctor finds damage and inconsistencies, and exits with 1", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const dataDir = yield* usedFolder
      const database = new DatabaseSync(`${dataDir}/svc.sqlite`)
      database.exec("PRAGMA foreign_keys=OFF")
      database.exec("INSERT INTO user_passwords (subject, password_hash, updated_at) VALUES ('usr_nobody', 'x', 'y')")
      const loose = yield* doctor(dataDir)
      expect([loose.code, loose.of("database")?.message]).toEqual([
        1,
        `The database ${dataDir}/svc.sqlite is damaged (A row of user_passwords refers to a missing row of users.).`
      ])
      database.close()
      const bytes = yield* files.readFile(`${dataDir}/svc.sqlite`)
      yield* files.writeFile(`${dataDir}/svc.sqlite`, bytes.fill(0xa5, 4096))
      const damaged = yield* doctor(dataDir)
      expect([damaged.code, damaged.of("database")?.status]).toEqual([1, "error"])
      yield* files.writeFileString(
        `${dataDir}/svc.sqlite`,
        "no database at all, but text enough for a header".repeat(99)
      )
      const text = yield* doctor(dataDir)
      expect([text.code, text.of("database")?.status]).toEqual([1, "error"])
    })
  )

  live(
    "svc doctor reports a different master key in the shell as a warning if the running server has the right key",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* usedFolder
        const otherKey = { SVC_MASTER_KEY: "ab".repeat(32) }
        const alone = yield* doctor(dataDir, otherKey)
        expect([alone.code, alone.of("vault")?.status]).toEqual([1, "error"])
        yield* Layer.build(stored(dataDir))
        const beside = yield* doctor(dataDir, otherKey)
        expect([beside.code, beside.of("vault")?.status]).toEqual([0, "warning"])
        expect(JSON.stringify(beside.of("vault"))).not.toContain("abab")
      })
  )

  live("svc doctor reports the reason why a data folder cannot be used, and variables that are not settings", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = yield* folder
      yield* files.writeFileString(`${root}/file`, "")
      const file = yield* doctor(`${root}/file`, { SVC_DATADIR: "/elsewhere/secret", SVC_SERVICE_HOST: "10.0.0.1" })
      expect([file.code, file.statuses["folder"], file.statuses["database"]]).toEqual([1, "error", undefined])
      expect(file.of("settings")).toMatchObject({
        status: "warning",
        message: "SVC_DATADIR is no setting and has no effect. SVC_DATA_DIR is one."
      })
      expect(file.of("folder")?.message).toBe(`${root}/file is not a folder.`)
      yield* files.makeDirectory(`${root}/open`, { mode: 0o755 })
      const open = yield* doctor(`${root}/open`)
      expect([open.code, open.of("folder")?.status]).toEqual([0, "warning"])
      expect((yield* files.stat(`${root}/open`)).mode & 0o777).toBe(0o755)
    })
  )
})
