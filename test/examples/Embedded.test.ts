import { describe, expect } from "bun:test"
import { readdir, readFile, readlink } from "node:fs/promises"
import { Effect, FileSystem } from "effect"
import { installEmbedded } from "../../examples/embedded/Install.ts"
import { demoRepository } from "../../src/cli/demo/DemoRepository.ts"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"

/** Processes started by this one that have not ended. */
const children = Effect.promise(async () => {
  const listed = (await readFile(`/proc/self/task/${process.pid}/children`, "utf8")).trim().split(/\s+/)
  const states = await Promise.all(listed.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")))
  // The state follows the name in brackets; Z has ended and waits to be reaped by the runtime.
  return listed.filter((_, index) => /\) [^Z]/.test(states[index] ?? ""))
})

/** Open files under a folder. */
const openFiles = (folder: string) =>
  Effect.promise(async () => {
    const handles = await readdir("/proc/self/fd")
    const targets = await Promise.all(handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => "")))
    return targets.filter((target) => target.startsWith(folder))
  })

const tool = Bun.which("tofu") ?? Bun.which("terraform")

describe.skipIf(tool === null)("the embedded example", () => {
  it.live("installs a Capsule and follows its events", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-embedded-" })
      const repository = yield* demoRepository
      const events: Array<string> = []
      // Other suites of this process may have left some.
      const before = new Set(yield* children)
      const installed = yield* installEmbedded({
        url: repository.url,
        dataDir,
        allowOrigins: repository.origin,
        onEvent: (_, event) => Effect.sync(() => void events.push(event))
      })
      expect(installed).toEqual({ status: "active", outputs: { greeting: "Hello, world!" } })
      expect(events).toContain("plan.summary")
      expect(events.filter((event) => event === "run.waiting_approval")).toHaveLength(1)
      expect(events.at(-1)).toBe("run.succeeded")
      // It executed tools and held databases; all of them ended with its Scope.
      expect(yield* openFiles(dataDir)).toEqual([])
      expect((yield* children).filter((pid) => !before.has(pid))).toEqual([])
    }).pipe(Effect.provide(platform))
  )
})
