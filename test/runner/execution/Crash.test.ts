import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect } from "bun:test"
import { Effect, Option } from "effect"
import { it } from "../../support/Effect.ts"
import { countCreations, providerMirror } from "../../support/ProviderMirror.ts"
import { note, required } from "./support/ProviderStage.ts"
import { temporaryFolder } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

const slow = `delay_ms   = 60000
  depends_on = [demo_note.a]`
const main = `${required}${note("a")}${note("b", slow)}`

const script = fileURLToPath(new URL("support/ApplyProcess.ts", import.meta.url))

/** Returns the processes whose working directory is inside a folder, as reported by the kernel. */
const workingIn = (folder: string) =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const { success, stdout } = Bun.spawnSync(["readlink", `/proc/${pid}/cwd`])
      return success && stdout.toString().startsWith(folder)
    })

const firstLine = async (stream: ReadableStream<Uint8Array>) => {
  let text = ""
  for await (const chunk of stream) {
    text += new TextDecoder().decode(chunk)
    if (text.includes("\n")) break
  }
  return text.trim()
}

/** Kills the service during an apply, and returns the processes and files that remain. */
const crash = (isolation: "auto" | "off") =>
  Effect.gen(function* () {
    const runner = yield* TestRunner
    const mirror = yield* providerMirror
    const folder = yield* temporaryFolder
    const request = {
      folder,
      mirror: mirror.path,
      interpreter: mirror.interpreter,
      notesDir: mirror.notesDir,
      isolation,
      main
    }
    const service = yield* Effect.acquireRelease(
      Effect.sync(() =>
        Bun.spawn([process.execPath, script, JSON.stringify(request)], { stdout: "pipe", stderr: "inherit" })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const runFolder = yield* Effect.promise(() => firstLine(service.stdout))
    expect(runFolder).toStartWith(folder)
    service.kill("SIGKILL")
    yield* Effect.promise(() => service.exited)

    const left = Option.getOrUndefined(yield* runner.recover(runFolder))
    expect(left).toMatchObject({ resourceCount: 1, possiblyCreated: ["demo_note.b"], changedAnything: true })
    expect(left?.completed.map(({ address }) => address)).toEqual(["demo_note.a"])
    expect(left?.stateProblem).toBeUndefined()
    expect(workingIn(runFolder)).toEqual([])
    expect(yield* countCreations(mirror.notesDir)).toBe(1)
    // A second recovery returns the same result.
    expect(Option.getOrUndefined(yield* runner.recover(runFolder))).toMatchObject({ serial: left?.serial ?? -1 })
  }).pipe(Effect.provide(runnerWith({ isolation })))

describe("Killed services", () => {
  it.live(
    "after a service is killed during a sandboxed apply, no process remains and everything can be recovered",
    () => crash("auto"),
    60_000
  )
  it.live(
    "recovery first kills the remaining processes of an unsandboxed apply whose service was killed",
    () => crash("off"),
    60_000
  )
})
