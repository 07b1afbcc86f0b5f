import { tmpdir } from "node:os"
import { describe, expect } from "bun:test"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { RunStreams } from "../../actors/ledger/run/Runs.ts"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import type { SandboxSettingsShape } from "../../runner/sandbox/SandboxSettings.ts"
import type { RunLogEntry } from "../../schema/events/RunEvent.ts"
import { RunLogFrame } from "../../schema/events/RunFrame.ts"
import type { RunId } from "../../schema/records/Ids.ts"
import type { SandboxLevel } from "../../schema/records/Run.ts"
import { RunFeeds } from "../../src/streams/RunFeeds.ts"
import { it } from "../support/Effect.ts"
import { applying, planned, settled } from "../support/Journey.ts"
import { lineProblem, logLines, printingResource } from "../support/LogLines.ts"
import { testPlane } from "../support/TestPlane.ts"

const levels: ReadonlyArray<readonly [SandboxLevel, Partial<SandboxSettingsShape>]> = [
  ["bubblewrap", { levels: ["bubblewrap"] }],
  ["namespaces", { levels: ["namespaces"] }],
  ["user_landlock", { levels: ["user_landlock"], dataFolder: tmpdir() }],
  ["landlock", { levels: ["landlock"] }],
  ["process", { isolation: "off" }]
]

const decodeFrame = Schema.decodeEffect(Schema.fromJsonString(RunLogFrame))

/** Follows the log and returns all entries in the order of arrival. `afterFrame` delays the next frame. */
const followed = Effect.fnUntraced(function* (id: RunId, afterFrame: Effect.Effect<unknown>) {
  const entries: Array<RunLogEntry> = []
  yield* (yield* RunFeeds).deliver(id, "logs", 0, ({ text }) =>
    Effect.flatMap(Effect.orDie(decodeFrame(text)), (frame) => {
      if ("entries" in frame) entries.push(...frame.entries)
      return afterFrame
    })
  )
  return entries
})

/** Reads the stored log in pages. */
const storedLog = Effect.fnUntraced(function* (id: RunId) {
  const streams = yield* RunStreams
  const entries: Array<RunLogEntry> = []
  for (;;) {
    const page = yield* streams.logs(id, entries.length, 1000)
    entries.push(...page.items)
    if (page.items.length === 0) return entries
  }
})

describe("Complete logs", () => {
  for (const [level, sandbox] of levels)
    it.live(
      `readers of any speed get every log line exactly once and in order: ${level}, where available`,
      () =>
        Effect.gen(function* () {
          const { status } = yield* Sandbox
          if (!status.accepted) return
          const { plan } = yield* planned("lines", { "main.tf": printingResource })
          const { id } = yield* applying(plan)
          const isOver = yield* Deferred.make<void>()
          const followers = yield* Effect.forEach(
            [Effect.void, Effect.sleep("3 millis"), Deferred.await(isOver)],
            (afterFrame) => Effect.forkChild(followed(id, afterFrame), { startImmediately: true })
          )
          const apply = yield* settled(id)
          yield* Deferred.succeed(isOver, undefined)
          expect([apply.status, apply.isolation]).toEqual(["succeeded", level])
          // The log is complete once its followers end, because its last lines are stored after the Run has ended.
          const seen = yield* Effect.forEach(followers, Fiber.join)
          const stored = yield* storedLog(id)
          expect(lineProblem(stored)).toBeUndefined()
          for (const entries of seen) expect(entries).toEqual(stored)
          expect(stored.length).toBeGreaterThan(logLines)
        }).pipe(Effect.provide(RunFeeds.layer.pipe(Layer.provideMerge(testPlane({ sandbox }))))),
      60_000 + 20 * logLines
    )
})
