import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Deferred, Effect, Layer, Logger } from "effect"
import { NodeServices } from "@effect/platform-node"
import { bootSeconds } from "../../../../runner/agent/BootClock.ts"
import { Guard } from "../../../../runner/agent/guard/Guard.ts"
import { GuardCommand } from "../../../../runner/agent/guard/GuardCommand.ts"
import { killProcessesOfRun } from "../../../../runner/execution/OrphanedProcesses.ts"
import type { SandboxLevel } from "../../../../schema/records/Run.ts"
import { bundledGuard, guardProgram } from "../../../support/BundledGuard.ts"
import { bundledProgram } from "../../../support/BundledProgram.ts"
import { it } from "../../../support/Effect.ts"

const agent = new URL("../support/GuardedAgent.ts", import.meta.url)
const levels: ReadonlyArray<SandboxLevel> = ["bubblewrap", "namespaces", "user_landlock", "landlock", "process"]

const isRoot = process.getuid?.() === 0
const anyone = 61_003

/**
 * The `landlock` level applies to unprivileged users, so tests that run as root start the agent as another user at this
 * level.
 */
const asAnyone = (level: SandboxLevel) => isRoot && level === "landlock"

const temporaryFolder = (level: SandboxLevel) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "guard-"))
      chmodSync(folder, 0o711)
      mkdirSync(join(folder, "run/root"), { recursive: true })
      Bun.spawnSync(["mkfifo", join(folder, "run/root/lifeline")])
      if (asAnyone(level)) {
        for (const path of ["", "run", "run/root", "run/root/lifeline"]) chownSync(join(folder, path), anyone, anyone)
      }
      return folder
    }),
    // Kills the tool after the test, in case the guard failed to.
    (folder) =>
      Effect.andThen(
        killProcessesOfRun(join(folder, "run")),
        Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
  )

/** Starts an agent with a tool at this level, and a lease that expires in this many seconds. */
const agentWith = Effect.fnUntraced(function* (level: SandboxLevel, folder: string, seconds: number) {
  const program = yield* Effect.promise(() => bundledProgram(agent))
  const guard = yield* Effect.promise(guardProgram)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn(
        [
          ...(asAnyone(level) ? ["setpriv", `--reuid=${anyone}`, `--regid=${anyone}`, "--clear-groups", "--"] : []),
          process.execPath,
          program,
          level,
          folder,
          String(seconds),
          guard
        ],
        { stdio: ["ignore", "pipe", "inherit"] }
      )
    ),
    (started) =>
      Effect.sync(() => {
        started.kill("SIGCONT")
        started.kill("SIGKILL")
      })
  )
  const reader = child.stdout.getReader()
  const said = yield* Effect.promise(async () => {
    let text = ""
    while (!/up|unavailable/.test(text)) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`The agent ended; it had said ${JSON.stringify(text)}.`)
      text += new TextDecoder().decode(value)
    }
    return text
  })
  return { child, isUp: !said.includes("unavailable"), killAt: Number(/killAt (\S+)/.exec(said)?.[1]) }
})

/** Far longer than a guard needs. Only a tool that is never killed runs this long. */
const longestWait = "40 seconds"

/**
 * Reads the pipe in a separate process, which exits when no process has the pipe open for writing. `ended` fails if that does not
 * happen.
 */
const lifelineOf = Effect.fnUntraced(function* (folder: string) {
  const reader = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn(["cat", join(folder, "run/root/lifeline")], { stdio: ["ignore", "ignore", "inherit"] })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  return {
    ended: Effect.promise(() => reader.exited).pipe(
      Effect.timeoutOrElse({
        duration: longestWait,
        orElse: () => Effect.die(new Error("The tool still works: nothing killed it."))
      })
    )
  }
})

describe("Agent guard", () => {
  for (const level of levels) {
    it.concurrent(
      `at ${level}, a tool and all its processes are dead by the deadline, even if the agent was stopped`,
      () =>
        Effect.gen(function* () {
          const folder = yield* temporaryFolder(level)
          const lifeline = yield* lifelineOf(folder)
          const { child, isUp, killAt } = yield* agentWith(level, folder, 6)
          if (!isUp) {
            writeFileSync(join(folder, "run/root/lifeline"), "")
            return yield* lifeline.ended
          }
          child.kill("SIGSTOP")
          yield* lifeline.ended
          // The guard must not kill early, because an apply may use its entire lease.
          expect(bootSeconds()).toBeGreaterThanOrEqual(killAt)
          expect(child.exitCode ?? child.signalCode).toBeNull()
        }),
      120_000
    )
  }

  it.live(
    "a tool without isolation is killed together with its agent, long before the lease expires",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder("process")
        const lifeline = yield* lifelineOf(folder)
        const { child, killAt } = yield* agentWith("process", folder, 3600)
        child.kill("SIGKILL")
        yield* lifeline.ended
        expect(bootSeconds()).toBeLessThan(killAt)
      }),
    120_000
  )

  it.live(
    "a killed guard is restarted and keeps its deadlines",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder("process")
        const guard = yield* Guard
        yield* guard.hold(folder, bootSeconds() + 3600)
        const before = guardsBelow(process.pid)
        expect(before).toHaveLength(1)
        process.kill(before[0] ?? 0, "SIGKILL")
        // The response proves that a new guard is running.
        yield* guard.hold(folder, bootSeconds() + 3600)
        expect(guardsBelow(process.pid)).not.toEqual(before)
      }).pipe(Effect.provide(Guard.layer.pipe(Layer.provide([bundledGuard, NodeServices.layer])))),
    120_000
  )

  it.live("an agent reports the path and the reason if its guard cannot be started", () =>
    Effect.gen(function* () {
      const program = "/nonexistent/svc"
      const reported = yield* Deferred.make<unknown>()
      const logger = Logger.layer([
        Logger.make(({ message }) => Deferred.doneUnsafe(reported, Effect.succeed(message)))
      ])
      const command = Layer.succeed(GuardCommand, { program, args: [] })
      yield* Layer.build(Guard.layer.pipe(Layer.provide([command, logger, NodeServices.layer])))
      expect(String(yield* Deferred.await(reported))).toMatch(
        /\(\/nonexistent\/svc\) ended and is started again: .*NotFound/
      )
    })
  )
})

const guardsBelow = (pid: number): ReadonlyArray<number> =>
  Bun.spawnSync(["pgrep", "-P", String(pid), "-f", "GuardMain"])
    .stdout.toString()
    .split("\n")
    .filter((line) => line !== "")
    .map(Number)
