import { expect } from "bun:test"
import { Deferred, Effect, Exit, Fiber, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { HoldLost } from "../../../../actors/ledger/run/RunHold.ts"
import { isNewer, makeStateKeeping } from "../../../../actors/ledger/state/StateKeeping.ts"
import type { StateCheckpoint } from "../../../../runner/execution/RunSink.ts"
import { it } from "../../../support/Effect.ts"
import { namedRun } from "../../../support/NamedIds.ts"

const state = (serial: number, resourceCount = serial): StateCheckpoint => ({
  state: Redacted.make(new Uint8Array()),
  serial,
  resourceCount
})

/** A keeper whose writes start at once and finish when the test allows. */
const gated = Effect.gen(function* () {
  const begun: Array<number> = []
  const kept: Array<number> = []
  const gates: Array<Deferred.Deferred<void>> = []
  const keep = Effect.fnUntraced(function* ({ resourceCount }: StateCheckpoint) {
    begun.push(resourceCount)
    const gate = yield* Deferred.make<void>()
    gates.push(gate)
    yield* Deferred.await(gate)
    kept.push(resourceCount)
  })
  const release = Effect.suspend(() => {
    const gate = gates.shift()
    return gate === undefined ? Effect.die("nothing is being kept") : Deferred.succeed(gate, undefined)
  })
  return { begun, keep, kept, release }
})

/** A keeper whose first `times` writes fail. */
const failing = (times: number) => {
  const kept: Array<number> = []
  let left = times
  const keep = ({ serial }: StateCheckpoint) =>
    Effect.suspend(() => {
      left -= 1
      if (left >= 0) return Effect.die(new Error("the disk is full"))
      kept.push(serial)
      return Effect.void
    })
  return { keep, kept }
}

/** Runs every fiber until it blocks, without advancing the clock. */
const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

it.effect("a slow state keeper does not delay an execution, and writes only the newest of the waiting states", () =>
  Effect.gen(function* () {
    const { begun, keep, kept, release } = yield* gated
    const keeping = yield* makeStateKeeping(keep)
    yield* keeping.offer(state(1))
    yield* settle
    for (const serial of [2, 3, 4]) yield* keeping.offer(state(serial))
    yield* settle
    expect({ begun, kept }).toEqual({ begun: [1], kept: [] })
    const ended = yield* Effect.forkChild(keeping.end, { startImmediately: true })
    yield* settle
    expect(begun).toEqual([1])
    yield* release
    yield* settle
    expect({ begun, kept }).toEqual({ begun: [1, 4], kept: [1] })
    expect(ended.pollUnsafe()).toBeUndefined()
    yield* release
    yield* Fiber.join(ended)
    expect(kept).toEqual([1, 4])
  })
)

it.effect("the serials of stored states never decrease, and several states may share a serial", () =>
  Effect.gen(function* () {
    const kept: Array<number> = []
    const keeping = yield* makeStateKeeping(({ resourceCount }) => Effect.sync(() => void kept.push(resourceCount)))
    for (const [serial, count] of [
      [2, 1],
      [2, 2],
      [1, 3],
      [3, 4],
      [2, 5]
    ] as const) {
      yield* keeping.offer(state(serial, count))
      yield* settle
    }
    expect(kept).toEqual([1, 2, 4])
    expect([isNewer(undefined, { serial: 0 }), isNewer(2, { serial: 2 }), isNewer(2, { serial: 1 })]).toEqual([
      true,
      true,
      false
    ])
  })
)

it.effect("a failed state write is retried after a second, or earlier if the end of the Run is recorded", () =>
  Effect.gen(function* () {
    const later = failing(1)
    const keeping = yield* makeStateKeeping(later.keep)
    yield* keeping.offer(state(1))
    yield* settle
    expect(later.kept).toEqual([])
    yield* TestClock.adjust("1 second")
    yield* settle
    expect(later.kept).toEqual([1])

    const atTheEnd = failing(1)
    const ending = yield* makeStateKeeping(atTheEnd.keep)
    yield* ending.offer(state(1))
    yield* settle
    yield* ending.end
    expect(atTheEnd.kept).toEqual([1])
    yield* ending.end
    expect(atTheEnd.kept).toEqual([1])
  })
)

it.effect("a state whose write failed is dropped if a newer state is waiting", () =>
  Effect.gen(function* () {
    const { keep, kept } = failing(1)
    const keeping = yield* makeStateKeeping(keep)
    yield* keeping.offer(state(1))
    yield* settle
    yield* keeping.offer(state(2))
    yield* keeping.end
    expect(kept).toEqual([2])
  })
)

it.effect(
  "a permanent database failure does not delay the end of a Run, and no state is stored after the Run has ended",
  () =>
    Effect.gen(function* () {
      const { keep, kept } = failing(2)
      const keeping = yield* makeStateKeeping(keep)
      yield* keeping.offer(state(1))
      yield* settle
      yield* keeping.end
      yield* keeping.offer(state(2))
      yield* TestClock.adjust("1 minute")
      yield* settle
      yield* keeping.end
      expect(kept).toEqual([])
    })
)

it.effect("an execution that loses its hold stops, and stores no state afterwards", () =>
  Effect.gen(function* () {
    const asked: Array<number> = []
    const keeping = yield* makeStateKeeping(({ serial }) =>
      Effect.suspend(() => {
        asked.push(serial)
        return Effect.fail(new HoldLost({ runId: namedRun(1), message: "lost" }))
      })
    )
    yield* keeping.offer(state(1))
    const error = yield* Effect.flip(keeping.lost)
    expect(error.runId).toBe(namedRun(1))
    yield* keeping.offer(state(2))
    yield* keeping.end
    expect(asked).toEqual([1])
  })
)

it.effect("the newest state is stored before the execution finishes", () =>
  Effect.gen(function* () {
    const { keep, kept, release } = yield* gated
    const scope = yield* Scope.make()
    const keeping = yield* Scope.provide(makeStateKeeping(keep), scope)
    yield* keeping.offer(state(1))
    yield* settle
    yield* keeping.offer(state(2))
    const closed = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* release
    yield* settle
    expect(closed.pollUnsafe()).toBeUndefined()
    yield* release
    yield* Fiber.join(closed)
    expect(kept).toEqual([1, 2])
  })
)
