import { describe, expect, test } from "bun:test"
import { DatabaseSync } from "node:sqlite"
import { Effect, FileSystem, type Layer, Option, Stream } from "effect"
import { folderFindings, isRefused } from "../../../src/cli/doctor/FolderChecks.ts"
import type { platform } from "../../../src/composition/Platform.ts"
import { inspectDataFolder } from "../../../src/database/DataFolderInspection.ts"
import { toolScript } from "../../runner/toolchain/ReleaseFixture.ts"
import { mountRefusal, smallDisk } from "../../support/SmallDisk.ts"
import { apart, isRoot, says, serveLine, shell, spawned, use, usedFolder } from "./support/CheckedFolder.ts"
import { folder, live } from "./support/CommandLine.ts"
import { inProcess, succeeded } from "./support/InProcess.ts"

interface Broken {
  readonly name: string
  readonly check: string
  /** The server must run in a separate process, because svc refuses the database late in startup and ends the process. */
  readonly inOwnProcess?: true
  readonly spoil: (dataDir: string) => Effect.Effect<unknown, unknown, Needs>
  /** Repairs the folder as the printed instructions require. Returns the data folder to use afterwards. */
  readonly mend: (dataDir: string, words: string) => Effect.Effect<string, unknown, Needs>
}

type Needs = Layer.Success<typeof platform>

const pageBytes = 4096
const slowMachine = 240_000
const { doctor, serve } = inProcess

/** Faults for which both doctor and startup refuse a folder. */
const refusals: ReadonlyArray<Broken> = [
  {
    name: "a damaged page",
    check: "database",
    spoil: (dataDir) =>
      Effect.flatMap(FileSystem.FileSystem, (files) =>
        Effect.gen(function* () {
          const bytes = yield* files.readFile(`${dataDir}/svc.sqlite`)
          const at = Math.floor(bytes.length / pageBytes / 2) * pageBytes
          yield* files.writeFile(`${dataDir}/svc.sqlite`, bytes.fill(0xa5, at, at + pageBytes))
        })
      ),
    mend: Effect.fnUntraced(function* (dataDir, words) {
      expect(words).toContain("restore the newest backup into a new folder with `svc restore`")
      const restored = `${dataDir}-restored`
      yield* shell(`mkdir -m 700 '${restored}' && cp -p '${dataDir}/master.key' '${restored}/'`)
      yield* succeeded(["restore", `${dataDir}.backup`, "--data-dir", restored])
      return restored
    })
  },
  {
    name: "a database that was lost",
    check: "database",
    inOwnProcess: true,
    spoil: (dataDir) => shell(`mv '${dataDir}/svc.sqlite' '${dataDir}.lost'`),
    mend: Effect.fnUntraced(function* (dataDir, words) {
      expect(words).toContain("Put svc.sqlite back")
      yield* shell(`mv '${dataDir}.lost' '${dataDir}/svc.sqlite'`)
      return dataDir
    })
  },
  {
    name: "the database of another installation",
    check: "installation",
    spoil: Effect.fnUntraced(function* (dataDir) {
      const other = yield* usedFolder
      yield* shell(`cp '${other}/svc.sqlite' '${other}/master.key' '${dataDir}/'`)
    }, Effect.scoped),
    mend: Effect.fnUntraced(function* (dataDir, words) {
      const file = /If this is the right one, move (\S+) away first\./.exec(words)?.[1]
      yield* shell(`mv '${file}' '${dataDir}.aside'`)
      return dataDir
    })
  },
  {
    name: "tables of a newer release",
    check: "migrations",
    spoil: (dataDir) =>
      Effect.sync(() => {
        const database = new DatabaseSync(`${dataDir}/svc.sqlite`)
        database.exec("INSERT INTO svc_migrations (migration_id, name) VALUES (9999, 'later')")
        database.close()
      }),
    mend: Effect.fnUntraced(function* (dataDir, words) {
      expect(words).toContain("or restore a backup that this release made")
      const restored = `${dataDir}-restored`
      yield* shell(`mkdir -m 700 '${restored}' && cp -p '${dataDir}/master.key' '${restored}/'`)
      yield* succeeded(["restore", `${dataDir}.backup`, "--data-dir", restored])
      return restored
    })
  },
  {
    name: "a lost master key",
    check: "vault",
    spoil: (dataDir) => shell(`mv '${dataDir}/master.key' '${dataDir}.key'`),
    mend: Effect.fnUntraced(function* (dataDir, words) {
      expect(words).toContain("Put the file back")
      yield* shell(`mv '${dataDir}.key' '${dataDir}/master.key'`)
      return dataDir
    })
  }
]

interface Odd {
  readonly name: string
  readonly check: string
  readonly environment: Readonly<Record<string, string>>
  /** The server must run in a separate process with these variables. */
  readonly inOwnProcess?: true
  /** The environment after the remedy has been applied. */
  readonly mended: (dataDir: string) => Effect.Effect<Readonly<Record<string, string>>, unknown, Needs>
}

/** Faults in the settings of a server that still starts. */
const warnings: ReadonlyArray<Odd> = [
  {
    name: "a misspelt setting",
    check: "settings",
    environment: { SVC_DATADIR: "/elsewhere" },
    inOwnProcess: true,
    mended: (dataDir) => Effect.succeed({ SVC_DATA_DIR: dataDir })
  },
  {
    name: "a tool that is not there",
    check: "tool",
    environment: { SVC_TOOL: "/nonexistent/tofu" },
    mended: Effect.fnUntraced(function* (dataDir) {
      const files = yield* FileSystem.FileSystem
      yield* files.writeFileString(`${dataDir}.tofu`, toolScript("OpenTofu", "1.9.2"), { mode: 0o755 })
      return { SVC_TOOL: `${dataDir}.tofu` }
    })
  }
]

/** Starts a server that must fail, and returns its exit code and complete standard error. */
const refusedStart = Effect.fnUntraced(function* (dataDir: string, isText: boolean) {
  const server = yield* spawned(serveLine(dataDir).filter((flag) => !isText || flag !== "--json"))
  const log = yield* Stream.mkString(Stream.decodeText(server.stderr))
  return { code: Number(yield* server.exitCode), log }
}, Effect.scoped)

describe("Doctor and startup", () => {
  live(
    "doctor and startup refuse a file that the server's user cannot open, and the remedy fixes it",
    () =>
      Effect.gen(function* () {
        // These commands run in separate processes, without root's capability to open every file.
        const { doctor, serve } = apart
        const dataDir = yield* usedFolder
        yield* shell(`chmod 0 '${dataDir}/svc.sqlite'`)
        const found = yield* doctor(dataDir, "files")
        expect([found.code, found.finding.status]).toEqual([1, "error"])
        expect(found.finding.message).toContain("cannot read and write svc.sqlite in")
        const refused = yield* serve(dataDir)
        expect([refused.isReady, refused.code, says(refused.log, found.line)]).toEqual([false, 1, true])

        yield* shell((found.finding.remedy ?? "").replace("As root: ", ""))
        const mended = yield* doctor(dataDir, "files")
        expect(mended.finding.status).toBe("ok")
        const served = yield* serve(dataDir)
        expect([served.isReady, says(served.log, found.finding.message)]).toEqual([true, false])
      }),
    slowMachine
  )

  for (const { check, inOwnProcess, mend, name, spoil } of refusals) {
    live(
      `doctor and startup refuse ${name}, and the remedy fixes it`,
      () =>
        Effect.gen(function* () {
          const dataDir = yield* usedFolder
          yield* succeeded(["backup", `${dataDir}.backup`, "--data-dir", dataDir])
          expect((yield* doctor(dataDir, check)).finding.status).toBe("ok")
          yield* spoil(dataDir)
          const found = yield* doctor(dataDir, check)
          expect([found.code, found.finding.status]).toEqual([1, "error"])
          const refused = yield* (inOwnProcess === undefined ? inProcess : apart).serve(dataDir)
          expect([refused.isReady, refused.code]).toEqual([false, 1])
          expect(says(refused.log, found.line) ? found.line : refused.log).toBe(found.line)

          const mended = yield* mend(dataDir, found.line)
          const { code, finding } = yield* doctor(mended, check)
          expect([code, finding.status]).toEqual([0, "ok"])
          expect((yield* serve(mended)).isReady).toBe(true)
        }),
      slowMachine
    )
  }

  for (const { check, environment, inOwnProcess, mended, name } of warnings) {
    live(
      `doctor and startup warn about ${name} in the same words`,
      () =>
        Effect.gen(function* () {
          const dataDir = yield* usedFolder
          const found = yield* doctor(dataDir, check, environment)
          expect(found.finding.status).not.toBe("ok")
          const { serve } = inOwnProcess === undefined ? inProcess : apart
          const warned = yield* serve(dataDir, { environment, line: found.line })
          expect([warned.isReady, says(warned.log, found.line)]).toEqual([true, true])
          const again = yield* doctor(dataDir, check, yield* mended(dataDir))
          expect(again.finding.status).toBe("ok")
        }),
      slowMachine
    )
  }

  live(
    "doctor and startup report the process of a hung server, and killing that process is the only remedy needed",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* usedFolder
        const hung = yield* spawned(serveLine(dataDir))
        yield* hung.stdout.pipe(Stream.decodeText, Stream.splitLines, Stream.runHead)
        process.kill(hung.pid, "SIGSTOP")
        const { finding } = yield* doctor(dataDir, "server")
        expect(finding.message).toEndWith(`, process ${hung.pid}.`)
        const refused = yield* serve(dataDir)
        expect([refused.isReady, refused.code]).toEqual([false, 1])
        expect(refused.log).toContain(`Another server (process ${hung.pid}) already uses the data folder`)
        expect(refused.log).toContain("Stop it, or choose another folder.")
        yield* hung.kill({ killSignal: "SIGKILL" })
        expect((yield* doctor(dataDir, "server")).finding.message).toBe("No server is running on this folder.")
        expect((yield* serve(dataDir)).isReady).toBe(true)
      }),
    slowMachine
  )

  live(
    "doctor and startup warn about a clock that is behind recorded times, in the same words",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* usedFolder
        const audited = succeeded(["admin", "setup-link", "--data-dir", dataDir, "--json"])
        yield* audited
        const move = (to: string) => {
          const database = new DatabaseSync(`${dataDir}/svc.sqlite`)
          database.prepare("UPDATE audit_events SET created_at = ? WHERE workspace_id IS NULL").run(to)
          database.close()
        }
        const before = yield* doctor(dataDir, "clock")
        expect(before.finding.status).toBe("ok")
        move("2999-01-01T00:00:00.000Z")
        const found = yield* doctor(dataDir, "clock")
        expect([found.code, found.finding.status]).toEqual([1, "error"])
        expect(found.finding.message).toContain("the newest audit event was written at 2999-01-01T00:00:00.000Z")
        const line = "the newest audit event was written at 2999-01-01T00:00:00.000Z"
        const warned = yield* serve(dataDir, { line })
        expect([warned.isReady, says(warned.log, line)]).toEqual([true, true])
        expect(found.finding.remedy).toContain("svc admin setup-link")
        yield* audited
        expect((yield* doctor(dataDir, "clock")).finding.status).toBe("ok")
      }),
    slowMachine
  )

  live(
    "a server can start without a remedy after a killed server leaves its lock",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* usedFolder
        yield* Effect.scoped(
          Effect.gen(function* () {
            const server = yield* spawned(serveLine(dataDir))
            yield* server.stdout.pipe(Stream.decodeText, Stream.splitLines, Stream.runHead)
            yield* server.kill({ killSignal: "SIGKILL" })
          })
        )
        const files = yield* FileSystem.FileSystem
        expect(yield* files.exists(`${dataDir}/instance.holder`)).toBe(true)
        expect((yield* doctor(dataDir, "server")).finding.message).toBe("No server is running on this folder.")
        expect((yield* serve(dataDir)).isReady).toBe(true)
      }),
    slowMachine
  )

  if (mountRefusal !== undefined) test.skip(`a disk that is nearly full: ${mountRefusal}`, () => {})
  else
    live(
      "doctor and a running server report a nearly full disk in the same words, until there is more space",
      () =>
        Effect.gen(function* () {
          const dataDir = `${yield* folder}/data`
          const disk = yield* smallDisk(dataDir, 128)
          yield* use(dataDir)
          const found = yield* doctor(dataDir, "disk")
          expect([found.code, found.finding.status]).toEqual([1, "error"])
          expect(found.finding.remedy).toStartWith("Make room")
          const line = found.finding.remedy ?? ""
          const warned = yield* serve(dataDir, { line })
          expect([warned.isReady, says(warned.log, line)]).toEqual([true, true])
          yield* disk.resize(3 * 1024)
          expect((yield* doctor(dataDir, "disk")).finding.status).toBe("ok")
          expect(says((yield* serve(dataDir)).log, line)).toBe(false)
        }),
      slowMachine
    )

  if (mountRefusal === undefined) {
    for (const isText of [true, false]) {
      live(
        `svc serve reports a full disk in one line ${isText ? "of text" : "of JSON"}, without a stack trace`,
        () =>
          Effect.gen(function* () {
            const dataDir = `${yield* folder}/data`
            const disk = yield* smallDisk(dataDir, 128)
            yield* use(dataDir)
            yield* disk.fill
            const { code, log } = yield* refusedStart(dataDir, isText)
            expect(code).toBe(1)
            expect(log).not.toMatch(/\n\s+at |SqlError/)
            const last = log.trim().split("\n").at(-1) ?? ""
            const text = isText ? last : JSON.parse(last).error.message
            expect(text).toContain("The disk is full")
            expect(text).toContain("start again")
            if (!isText) expect(JSON.parse(last).error.code).toBe("storage_full")
            yield* disk.free
            expect((yield* serve(dataDir)).isReady).toBe(true)
          }),
        slowMachine
      )
    }
  }

  live("a server with hardly any free disk space reports an error but starts", () =>
    Effect.gen(function* () {
      const look = yield* inspectDataFolder(yield* folder)
      const findings = yield* folderFindings({ ...look, free: Option.some(1000) })
      expect(findings.find(({ check }) => check === "disk")?.status).toBe("error")
      expect(findings.some(isRefused)).toBe(false)
    })
  )

  // Only root can give a file to another user and still open it.
  if (isRoot)
    live("root is warned about files that the server's user cannot open", () =>
      Effect.gen(function* () {
        const dataDir = yield* usedFolder
        const other = 61_001
        yield* shell(`chown -R ${other} '${dataDir}' && chown 0 '${dataDir}/master.key'`)
        const wrong = Effect.map(Effect.flatMap(inspectDataFolder(dataDir), folderFindings), (findings) =>
          findings.filter(({ status }) => status !== "ok")
        )
        const found = yield* wrong
        expect(found).toEqual([
          expect.objectContaining({
            check: "files",
            status: "warning",
            message: expect.stringContaining("master.key in"),
            remedy: expect.stringContaining(`chown ${other} '${dataDir}/master.key'`)
          })
        ])
        yield* shell((found[0]?.remedy ?? "").replace("As root: ", ""))
        expect(yield* wrong).toEqual([])
      })
    )
})
