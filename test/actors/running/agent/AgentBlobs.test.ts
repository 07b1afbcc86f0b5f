import { afterAll, expect } from "bun:test"
import { createHash } from "node:crypto"
import { Deferred, Effect, Fiber, FileSystem, Layer, Stream } from "effect"
import { AgentBlobs } from "../../../../actors/running/agent/AgentBlobs.ts"
import { SharedBlobs } from "../../../../actors/running/agent/SharedBlobs.ts"
import { ServerKeys } from "../../../../actors/running/agent-pool/ServerKeys.ts"
import { defaultRunSettings, RunSettings } from "../../../../actors/ledger/run/RunSettings.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { suite } from "../../../support/Effect.ts"
import { namedRun } from "../../../support/NamedIds.ts"

const settings = Layer.effect(
  RunSettings,
  Effect.gen(function* () {
    const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "svc-agent-blobs-" })
    return { ...defaultRunSettings, runsFolder: `${folder}/runs` }
  })
)

const tests = suite(
  AgentBlobs.layer.pipe(
    Layer.provide(
      Layer.succeed(SharedBlobs, {
        publish: () => Effect.void,
        has: () => Effect.succeed(false),
        fetch: () => Effect.void,
        remove: () => Effect.void,
        removeEnded: () => Effect.void
      })
    ),
    Layer.provide(Layer.succeed(ServerKeys, { own: Effect.die("Nothing is opened here.") })),
    Layer.provideMerge(settings),
    Layer.provideMerge(platform)
  )
)
afterAll(tests.dispose)

const turns = Effect.promise(async () => {
  for (let turn = 0; turn < 500; turn++) await new Promise<void>((done) => setImmediate(done))
})

tests.live("uploads of the same file take turns, even if one starts just after another has ended", () =>
  Effect.gen(function* () {
    const blobs = yield* AgentBlobs
    const bytes = new TextEncoder().encode("one two ")
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`
    const claim = { runId: namedRun("blobs"), fence: 1 }
    /** Uploads one half of the file. The bytes arrive when `arrives` completes. */
    const half = Effect.fnUntraced(function* (number: number, arrives: Effect.Effect<void>) {
      const from = number * 4
      const began = yield* Deferred.make<void>()
      const arriving = Effect.andThen(Deferred.succeed(began, undefined), arrives)
      const part = Stream.fromEffect(Effect.as(arriving, bytes.subarray(from, from + 4)))
      const put = blobs.put(claim, "plan_file", digest, { from, total: bytes.length, bytes: part })
      return { began: Deferred.await(began), fiber: yield* Effect.forkChild(put, { startImmediately: true }) }
    })

    const firstArrives = yield* Deferred.make<void>()
    const secondArrives = yield* Deferred.make<void>()
    const first = yield* half(0, Deferred.await(firstArrives))
    yield* first.began
    const second = yield* half(1, Deferred.await(secondArrives))
    yield* Deferred.succeed(firstArrives, undefined)
    expect(yield* Fiber.join(first.fiber)).toEqual({ storedBytes: 4, complete: false })
    yield* second.began
    // Starts a third upload while the second is still being received.
    const third = yield* half(1, Effect.void)
    yield* Effect.race(Fiber.await(third.fiber), turns)
    yield* Deferred.succeed(secondArrives, undefined)
    const complete = { storedBytes: bytes.length, complete: true }
    expect(yield* Fiber.join(second.fiber)).toEqual(complete)
    expect(yield* Fiber.join(third.fiber)).toEqual(complete)
  })
)
