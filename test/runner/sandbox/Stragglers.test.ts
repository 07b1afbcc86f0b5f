import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { endNotedProcesses, noteProcess } from "../../../runner/sandbox/ProcessNote.ts"
import type { SandboxLevel } from "../../../schema/records/Run.ts"
import { bundledProgram } from "../../support/BundledProgram.ts"
import { it } from "../../support/Effect.ts"

const harness = new URL("./support/StragglerProcess.ts", import.meta.url)
const isRoot = process.getuid?.() === 0
const anyone = 61_001

const temporaryFolder = (owner: number | undefined) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "stragglers-"))
      chmodSync(folder, 0o711)
      mkdirSync(join(folder, "run/root"), { recursive: true })
      Bun.spawnSync(["mkfifo", join(folder, "run/root/lifeline")])
      if (owner !== undefined) {
        for (const path of ["", "run", "run/root", "run/root/lifeline"]) chownSync(join(folder, path), owner, owner)
      }
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** Starts the fake service, and reads its output line by line. */
const standIn = Effect.fnUntraced(function* (level: SandboxLevel, folder: string, end: "exit" | "crash") {
  const command = [process.execPath, yield* Effect.promise(() => bundledProgram(harness)), level, folder, end]
  const user = ["setpriv", `--reuid=${anyone}`, `--regid=${anyone}`, "--clear-groups", "--"]
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn(isRoot && level === "landlock" ? [...user, ...command] : command, {
        stdio: ["ignore", "pipe", "inherit"],
        env: { PATH: "/usr/bin:/bin" }
      })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  const reader = child.stdout.getReader()
  let said = ""
  const says = (word: string) =>
    Effect.promise(async () => {
      while (!said.includes(word) && !said.includes("unavailable")) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`The stand-in ended; it had said ${JSON.stringify(said)}.`)
        said += new TextDecoder().decode(value)
      }
      return said.includes(word)
    })
  return { child, says }
})

/** Completes when no process has the pipe open for writing any more. */
const everyWriterEnded = (folder: string) => Effect.promise(() => Bun.file(join(folder, "run/root/lifeline")).text())

const levels: ReadonlyArray<SandboxLevel> = ["bubblewrap", "namespaces", "user_landlock", "landlock", "process"]

describe("Remaining processes", () => {
  for (const level of levels)
    for (const end of ["exit", "crash"] as const)
      it.live(
        `at ${level}, remaining processes are killed with ${end === "exit" ? "the program" : "the service, which was killed"}`,
        () =>
          Effect.gen(function* () {
            const folder = yield* temporaryFolder(isRoot && level === "landlock" ? anyone : undefined)
            const reading = Effect.runPromise(everyWriterEnded(folder))
            const { child, says } = yield* standIn(level, folder, end)
            if (!(yield* says("up"))) {
              // Closes the test's own write end, because no other process will open it.
              writeFileSync(join(folder, "run/root/lifeline"), "")
              return yield* Effect.promise(() => reading)
            }
            if (end === "exit") yield* says("ended")
            else child.kill("SIGKILL")
            expect(yield* Effect.promise(() => reading)).toBe("")
          })
      )
})

describe("Process records", () => {
  const waiting = Effect.acquireRelease(
    Effect.sync(() => Bun.spawn(["sleep", "1000"], { stdio: ["ignore", "ignore", "ignore"] })),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )

  it.live("a process record identifies a process by id and start time, and kills its entire process tree", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder(undefined)
      const note = join(folder, "run/note")
      const supervisor = yield* Effect.acquireRelease(
        Effect.sync(() =>
          // Ignores signals, like a process that never exits. It also survives its children, which are killed first.
          Bun.spawn(["sh", "-c", "trap '' TERM; exec 3> run/root/lifeline; setsid sleep 1000 & echo up; read never"], {
            cwd: folder,
            stdio: ["pipe", "pipe", "ignore"]
          })
        ),
        (started) => Effect.sync(() => started.kill("SIGKILL"))
      )
      const reading = Effect.runPromise(everyWriterEnded(folder))
      // Waits for the process's first output, because until then the process may not ignore the signal.
      yield* Effect.promise(() => supervisor.stdout.getReader().read())
      yield* noteProcess(note, supervisor.pid)
      yield* endNotedProcesses(note)
      yield* Effect.promise(() => supervisor.exited)
      expect(supervisor.signalCode).toBe("SIGKILL")
      expect(yield* Effect.promise(() => reading)).toBe("")
    })
  )

  it.live("a process record does not kill another process that has reused the id", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder(undefined)
      const note = join(folder, "run/note")
      const other = yield* waiting
      yield* noteProcess(note, other.pid)
      const noted = JSON.parse(readFileSync(note, "utf8"))
      writeFileSync(note, `${JSON.stringify({ ...noted, startTicks: "1" })}\nnot a line of it\n`)
      yield* endNotedProcesses(note)
      expect(existsSync(`/proc/${other.pid}`)).toBe(true)
      expect(other.exitCode ?? other.signalCode).toBeNull()
    })
  )
})
