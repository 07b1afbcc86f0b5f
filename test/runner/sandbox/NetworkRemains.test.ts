import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { bundledProgram } from "../../support/BundledProgram.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { holdProcesses, isUncollected, nameOf, parentOf, processesBelow } from "../../support/ProcessEnd.ts"

const harness = new URL("./support/NetworkProcess.ts", import.meta.url)
const pasta = Bun.which("pasta") ?? "/usr/bin/pasta"
const longestEnd = 10_000

const status = await Effect.runPromise(
  Effect.flatMap(Sandbox, ({ network }) => network).pipe(
    Effect.provide(Sandbox.layer.pipe(Layer.provide(NodeServices.layer)))
  )
)
const isRequired = process.env["SVC_TEST_REQUIRE_ALL"] !== undefined
const describeIsolated = status.reach === "isolated" || isRequired ? describe : describe.skip

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "network-remains-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Starts the fake service with a stub of `pasta` that can signal through a FIFO, and captures the service's output. */
const standIn = Effect.fnUntraced(function* (script: string) {
  const folder = yield* temporaryFolder
  const announcement = join(folder, "announcement")
  Bun.spawnSync(["mkfifo", announcement])
  writeFileSync(join(folder, "pasta"), `#!/bin/sh\n${script.replaceAll("ANNOUNCE", `echo here > ${announcement}`)}\n`)
  chmodSync(join(folder, "pasta"), 0o755)
  const program = yield* Effect.promise(() => bundledProgram(harness))
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn([process.execPath, program, folder], {
        stdio: ["pipe", "pipe", "inherit"],
        env: { PATH: "/usr/bin:/bin" }
      })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  const reader = child.stdout.getReader()
  const says = (word: string) =>
    Effect.promise(async () => {
      for (let said = ""; !said.includes(word); ) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`The stand-in ended; it had said ${JSON.stringify(said)}.`)
        said += new TextDecoder().decode(value)
      }
    })
  const announced = Effect.promise(() => Bun.file(announcement).text())
  return { folder, child, says, announced }
})

/** Tracks the processes that the fake service has started so far. */
const startedBy = (child: { readonly pid: number }) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const pids = processesBelow(child.pid)
      return { pids, ...holdProcesses(pids) }
    }),
    ({ release }) => Effect.sync(release)
  )

const points = [
  { name: "before there is a network", script: "ANNOUNCE; exec sleep 1000", at: "announced" },
  {
    name: "when it is created, before it is announced",
    script: `${pasta} "$@"; ANNOUNCE; exec sleep 1000`,
    at: "announced"
  },
  { name: "while a Run uses it", script: `exec ${pasta} "$@"`, at: "used" }
] as const

describeIsolated("Network remains", () => {
  for (const { at, name, script } of points) {
    it.live(`a network leaves no process behind when the service is killed ${name}`, () =>
      Effect.gen(function* () {
        const { announced, child, says } = yield* standIn(script)
        yield* at === "announced" ? announced : says("up")
        const { ended, pids } = yield* startedBy(child)
        expect(pids.length).toBeGreaterThan(1)
        child.kill("SIGKILL")
        expect(ended(longestEnd)).toBe(true)
      })
    )
  }

  it.live("a network leaves no process behind when the Run is cancelled during its creation", () =>
    Effect.gen(function* () {
      const { announced, child, says } = yield* standIn(`${pasta} "$@"; ANNOUNCE; exec sleep 1000`)
      yield* announced
      const { ended, pids } = yield* startedBy(child)
      expect(pids.length).toBeGreaterThan(1)
      child.stdin.write("cancel\n")
      child.stdin.flush()
      yield* says("cancelled")
      expect(ended(longestEnd)).toBe(true)
      expect(child.exitCode).toBeNull()
    })
  )

  it.live(
    "a network leaves no process behind when the Run ends, not even an unreaped process",
    () =>
      Effect.gen(function* () {
        const { child, folder, says } = yield* standIn(`exec ${pasta} "$@"`)
        yield* says("up")
        const { ended, pids } = yield* startedBy(child)
        writeFileSync(join(folder, "root", "end"), "")
        yield* says("ended")
        expect(ended(longestEnd)).toBe(true)
        yield* eventually(
          Effect.sync(() => pids.filter(isUncollected)),
          (left) => left.length === 0
        )
        expect(child.exitCode).toBeNull()
      }),
    longestEnd
  )

  it.live("a network that does not end in time leaves no process behind when the Run ends", () =>
    Effect.gen(function* () {
      const { child, folder, says } = yield* standIn(`exec ${pasta} "$@"`)
      yield* says("up")
      const { ended, pids } = yield* startedBy(child)
      const tap = pids.find((pid) => nameOf(pid).startsWith("pas"))
      process.kill(parentOf(tap ?? 0) ?? Number.NaN, "SIGSTOP")
      writeFileSync(join(folder, "root", "end"), "")
      yield* says("ended")
      expect(ended(longestEnd)).toBe(true)
    })
  )

  it.live("a network leaves no process behind when its supervisor is killed", () =>
    Effect.gen(function* () {
      const { child, says } = yield* standIn(`exec ${pasta} "$@"`)
      yield* says("up")
      const { ended, pids } = yield* startedBy(child)
      const tap = pids.find((pid) => nameOf(pid).startsWith("pas"))
      const { ended: belowEnded } = yield* startedBy({ pid: parentOf(tap ?? 0) ?? Number.NaN })
      process.kill(parentOf(tap ?? 0) ?? Number.NaN, "SIGKILL")
      expect(belowEnded(longestEnd)).toBe(true)
      expect(ended(0)).toBe(false)
    })
  )
})
