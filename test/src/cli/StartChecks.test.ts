import { describe, expect } from "bun:test"
import { DatabaseSync } from "node:sqlite"
import { Effect, FileSystem, Layer, Option, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { isRefused, startFindings } from "../../../src/cli/doctor/StartChecks.ts"
import { storage } from "../../../src/composition/Storage.ts"
import { lookAtDataFolder } from "../../../src/database/DataFolderLook.ts"
import { testSettings } from "../../support/ControlPlane.ts"
import { folder, live } from "./support/CommandLine.ts"

const program = new URL("../../../src/Main.ts", import.meta.url).pathname
const isRoot = process.getuid?.() === 0
/** Root may open every file, unless it gives up that capability. The tree itself stays readable for its owner. */
const asOwner = isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"] : []

/** A data folder that a server has used. */
const usedFolder = Effect.gen(function* () {
  const root = yield* folder
  const dataDir = `${root}/data`
  yield* Effect.scoped(Layer.build(Layer.fresh(storage(yield* testSettings({ dataDir })))))
  return dataDir
})

const environment = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", SVC_TOOL_DOWNLOAD: "off" }

const spawned = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const [command = "", ...rest] = [...asOwner, process.execPath, program, ...args]
  return yield* spawner.spawn(ChildProcess.make(command, rest, { env: environment, cwd: "/" }))
})

const shell = Effect.fnUntraced(function* (script: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  expect(Number(yield* spawner.exitCode(ChildProcess.make("sh", ["-ec", script])))).toBe(0)
})

interface Finding {
  readonly check: string
  readonly status: string
  readonly message: string
  readonly remedy?: string
}

/** The exit code of `svc doctor`, and its finding of one check. */
const doctor = Effect.fn("doctor")(function* (dataDir: string, check: string) {
  const process = yield* spawned(["doctor", "--data-dir", dataDir, "--json"])
  const out = yield* Stream.mkString(Stream.decodeText(process.stdout))
  const { findings }: { readonly findings: ReadonlyArray<Finding> } = JSON.parse(out)
  const finding = findings.find((one) => one.check === check)
  if (finding === undefined) throw new Error(`No finding ${check} in ${out}`)
  return { code: Number(yield* process.exitCode), finding, line: `${finding.message} ${finding.remedy ?? ""}`.trim() }
})

/** Starts a server until it is ready or refuses, and stops it: what its log says. */
const serve = (dataDir: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* spawned(["serve", "--data-dir", dataDir, "--listen", "127.0.0.1:0", "--json"])
      const first = yield* server.stdout.pipe(Stream.decodeText, Stream.splitLines, Stream.runHead)
      yield* Effect.ignore(server.kill())
      const log = yield* Stream.mkString(Stream.decodeText(server.stderr))
      return { isReady: first._tag === "Some" && first.value.includes('"url"'), log }
    })
  )

/** As in the log and in a refusal, whether that is JSON or not. */
const says = (log: string, line: string) => log.includes(line) || log.includes(JSON.stringify(line).slice(1, -1))

describe("svc doctor and svc serve check the same", () => {
  live("a file that the server's user cannot open: refused, and mended by the remedy", () =>
    Effect.gen(function* () {
      const dataDir = yield* usedFolder
      yield* shell(`chmod 0 '${dataDir}/svc.sqlite'`)
      const found = yield* doctor(dataDir, "files")
      expect([found.code, found.finding.status]).toEqual([1, "error"])
      expect(found.finding.message).toContain("cannot read and write svc.sqlite in")
      const refused = yield* serve(dataDir)
      expect([refused.isReady, says(refused.log, found.line)]).toEqual([false, true])

      yield* shell((found.finding.remedy ?? "").replace("As root: ", ""))
      const mended = yield* doctor(dataDir, "files")
      expect(mended.finding.status).toBe("ok")
      const served = yield* serve(dataDir)
      expect([served.isReady, says(served.log, found.finding.message)]).toEqual([true, false])
    })
  )

  live("a clock that is behind what was recorded: served with a warning in the same words", () =>
    Effect.gen(function* () {
      const dataDir = yield* usedFolder
      const audited = Effect.gen(function* () {
        const command = yield* spawned(["admin", "setup-link", "--data-dir", dataDir, "--json"])
        expect(Number(yield* command.exitCode)).toBe(0)
      })
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
      const warned = yield* serve(dataDir)
      expect(warned.isReady).toBe(true)
      expect(warned.log).toContain("the newest audit event was written at 2999-01-01T00:00:00.000Z")
      expect(found.finding.remedy).toContain("svc admin setup-link")
      yield* audited
      expect((yield* doctor(dataDir, "clock")).finding.status).toBe("ok")
    })
  )

  live("the lock of a killed server needs no remedy", () =>
    Effect.gen(function* () {
      const dataDir = yield* usedFolder
      yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* spawned(["serve", "--data-dir", dataDir, "--listen", "127.0.0.1:0", "--json"])
          yield* server.stdout.pipe(Stream.decodeText, Stream.splitLines, Stream.runHead)
          yield* server.kill({ killSignal: "SIGKILL" })
        })
      )
      const files = yield* FileSystem.FileSystem
      expect(yield* files.exists(`${dataDir}/instance.holder`)).toBe(true)
      expect((yield* doctor(dataDir, "server")).finding.message).toBe("No server is running on this folder.")
      expect((yield* serve(dataDir)).isReady).toBe(true)
    })
  )

  live("hardly any disk is left: an error that keeps no server from starting", () =>
    Effect.gen(function* () {
      const look = yield* lookAtDataFolder(yield* folder)
      const findings = yield* startFindings({ ...look, free: Option.some(1000) })
      expect(findings.find(({ check }) => check === "disk")?.status).toBe("error")
      expect(findings.some(isRefused)).toBe(false)
    })
  )

  // Only root can give a file away, and open it nevertheless.
  if (isRoot)
    live("root is warned of files that the server's user cannot open", () =>
      Effect.gen(function* () {
        const dataDir = yield* usedFolder
        const other = 61_001
        yield* shell(`chown -R ${other} '${dataDir}' && chown 0 '${dataDir}/master.key'`)
        const findings = yield* startFindings(yield* lookAtDataFolder(dataDir))
        expect(findings.filter(({ status }) => status !== "ok")).toEqual([
          expect.objectContaining({
            check: "files",
            status: "warning",
            message: expect.stringContaining("master.key in"),
            remedy: expect.stringContaining(`chown ${other} '${dataDir}/master.key'`)
          })
        ])
      })
    )
})
