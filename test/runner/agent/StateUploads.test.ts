import { describe, expect } from "bun:test"
import { Deferred, Effect, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { uploadStates } from "../../../runner/agent/StateUploads.ts"
import { it } from "../../support/Effect.ts"

const state = (serial: number) => ({ state: Redacted.make(new Uint8Array([serial])), serial, resourceCount: serial })

describe("state uploads", () => {
  it.effect(
    "states are uploaded one at a time, always the newest waiting state, and the last state is never skipped",
    () =>
      Effect.gen(function* () {
        const started = yield* Queue.unbounded<number>()
        const first = yield* Deferred.make<void>()
        let under = 0
        const uploads = yield* uploadStates(({ serial }) =>
          Effect.gen(function* () {
            under += 1
            expect(under).toBe(1)
            yield* Queue.offer(started, serial)
            if (serial === 1) yield* Deferred.await(first)
            under -= 1
          })
        )
        yield* uploads.offer(state(1))
        expect(yield* Queue.take(started)).toBe(1)
        for (const serial of [2, 3, 4]) yield* uploads.offer(state(serial))
        expect(uploads.newestSerial()).toBe(4)
        yield* Deferred.succeed(first, undefined)
        yield* TestClock.adjust("1 second")
        expect(yield* Queue.take(started)).toBe(4)
        expect(yield* Queue.size(started)).toBe(0)
      })
  )

  it.effect("between state uploads, an agent waits five times as long as the last upload took", () =>
    Effect.gen(function* () {
      const started = yield* Queue.unbounded<number>()
      const uploads = yield* uploadStates(({ serial }) =>
        Effect.andThen(Queue.offer(started, serial), Effect.sleep("10 seconds"))
      )
      yield* uploads.offer(state(1))
      expect(yield* Queue.take(started)).toBe(1)
      yield* uploads.offer(state(2))
      yield* TestClock.adjust("59 seconds")
      expect(yield* Queue.size(started)).toBe(0)
      yield* TestClock.adjust("2 seconds")
      expect(yield* Queue.take(started)).toBe(2)
    })
  )

  it.effect("a state that arrives late is uploaded without an additional wait", () =>
    Effect.gen(function* () {
      const started = yield* Queue.unbounded<number>()
      const uploads = yield* uploadStates(({ serial }) => Queue.offer(started, serial))
      yield* TestClock.adjust("10 minutes")
      yield* uploads.offer(state(1))
      expect(yield* Queue.take(started)).toBe(1)
      yield* uploads.offer(state(2))
      yield* TestClock.adjust("1 second")
      expect(yield* Queue.size(started)).toBe(1)
    })
  )
})
