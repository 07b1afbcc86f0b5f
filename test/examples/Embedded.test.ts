import { describe, expect } from "bun:test"
import { readdir, readFile, readlink } from "node:fs/promises"
import { Effect, FileSystem } from "effect"
import { installEmbedded } from "../../examples/embedded/Install.ts"
import { demoRepository } from "../../src/cli/demo/DemoRepository.ts"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"

/** Open files under a folder, and processes that this one started. */
const held = (folder: string) =>
  Effect.promise(async () => {
    const handles = await readdir("/proc/self/fd")
    const targets = await Promise.all(handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => "")))
    const children = await readFile(`/proc/self/task/${process.pid}/children`, "utf8")
    return { files: targets.filter((target) => target.startsWith(folder)), children: children.trim() }
  })

const tool = Bun.which("tofu") ?? Bun.which("terraform")

describe.skipIf(tool === null)("the embedded example", () => {
  it.live("installs a Capsule and follows its events", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-embedded-" })
      const repository = yield* demoRepository
      const events: Array<string> = []
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
      // It executed tools and held databases; all of them went with its Scope.
      expect(yield* held(dataDir)).toEqual({ files: [], children: "" })
    }).pipe(Effect.provide(platform))
  )
})
