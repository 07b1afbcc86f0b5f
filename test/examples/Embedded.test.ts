import { describe, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { installEmbedded } from "../../examples/embedded/Install.ts"
import { demoRepository } from "../../src/cli/demo/DemoRepository.ts"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform")

describe.skipIf(tool === null)("the embedded example", () => {
  it.live("installs a Capsule and follows its events", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const repository = yield* demoRepository
      const events: Array<string> = []
      const installed = yield* installEmbedded({
        url: repository.url,
        dataDir: yield* files.makeTempDirectoryScoped({ prefix: "svc-embedded-" }),
        allowOrigins: repository.origin,
        onEvent: (_, event) => Effect.sync(() => void events.push(event))
      })
      expect(installed).toEqual({ status: "active", outputs: { greeting: "Hello, world!" } })
      expect(events).toContain("plan.summary")
      expect(events.filter((event) => event === "run.waiting_approval")).toHaveLength(1)
      expect(events.at(-1)).toBe("run.succeeded")
    }).pipe(Effect.provide(platform))
  )
})
