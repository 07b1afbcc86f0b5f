import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { writeApplyRecord } from "../../../runner/execution/ApplyRecord.ts"
import { runFolderPaths } from "../../../runner/execution/RunFolder.ts"
import type { RunControl } from "../../../runner/execution/RunPlace.ts"
import { runnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import { it } from "../../support/Effect.ts"
import { offeredApply, printedState } from "./support/OfferedApply.ts"

const text = JSON.stringify({ version: 4, serial: 7, lineage: "one", resources: [] })
const state = new TextEncoder().encode(text)

const begun = Effect.fnUntraced(function* ({ recordStart = Effect.void, runFolder }: RunControl) {
  const paths = runFolderPaths(runFolder)
  yield* Effect.promise(() => mkdir(paths.root, { recursive: true }))
  yield* recordStart
  yield* Effect.orDie(writeApplyRecord(paths.applyRecord, { version: 1, modulePath: "." }))
})

describe("Agent applies", () => {
  it.live("an apply starts its tool only once the Run's record would survive a power failure", () =>
    Effect.gen(function* () {
      let isStarted = false
      const { folder, run, sent } = yield* offeredApply((_, control) =>
        Effect.gen(function* () {
          yield* begun(control)
          isStarted = true
          return printedState(state)
        })
      )
      // A folder takes the place of the temporary file, so that the next write of the record fails. The first record already
      // exists.
      yield* Effect.promise(() => mkdir(join(folder, "record.json.new")))
      yield* run
      expect(isStarted).toBe(false)
      expect(sent).toEqual(["accept", "start", "result"])
    })
  )

  it.live("an apply's state is on disk before the rest of the outcome is known", () =>
    Effect.gen(function* () {
      const isFound = yield* Deferred.make<void>()
      const { end, recovered, run } = yield* offeredApply((_, control) =>
        Effect.gen(function* () {
          yield* begun(control)
          yield* control.stateFound?.(Redacted.make(state)) ?? Effect.void
          yield* Deferred.succeed(isFound, undefined)
          yield* control.cancelRequested
          return yield* runnerFailure("output_unreadable", "outputs", "Its outputs were never read.")
        })
      )
      const running = yield* Effect.forkChild(run)
      yield* Deferred.await(isFound)
      yield* end
      yield* Fiber.join(running)
      expect(recovered.map((left) => left.state && new TextDecoder().decode(Redacted.value(left.state)))).toEqual([
        text
      ])
    })
  )

  it.live("a state that the tool could only print is submitted even if the Run has been abandoned", () =>
    Effect.gen(function* () {
      const isRunning = yield* Deferred.make<void>()
      const { end, recovered, run, sent } = yield* offeredApply((_, control) =>
        Effect.gen(function* () {
          yield* begun(control)
          yield* Deferred.succeed(isRunning, undefined)
          yield* control.cancelRequested
          return printedState(state)
        })
      )
      const running = yield* Effect.forkChild(run)
      yield* Deferred.await(isRunning)
      yield* end
      yield* Fiber.join(running)
      expect(sent).toEqual(["accept", "start", "left_over"])
      expect(recovered.map((left) => left.state && new TextDecoder().decode(Redacted.value(left.state)))).toEqual([
        text
      ])
    })
  )
})
