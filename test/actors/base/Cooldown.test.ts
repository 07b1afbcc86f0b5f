import { expect, test } from "bun:test"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { isCoolingDown, makeCooldown } from "../../../actors/base/Cooldown.ts"
import { it } from "../../support/Effect.ts"

test("background work pauses for its interval, and a wrong clock never prolongs the pause", () => {
  const cooldown = 100
  expect(isCoolingDown(undefined, cooldown, 1000)).toBe(false)
  expect(isCoolingDown(1000, cooldown, 1000)).toBe(true)
  expect(isCoolingDown(1000, cooldown, 1099)).toBe(true)
  expect(isCoolingDown(1000, cooldown, 1100)).toBe(false)
  // Simulates a clock that was set back after the work finished.
  expect(isCoolingDown(1000, cooldown, 999)).toBe(false)
})

it.effect("background work runs one pass at a time, finishes the pass, and then pauses", () =>
  Effect.gen(function* () {
    const afterCooldown = makeCooldown(1000)
    const ended = yield* Deferred.make<boolean>()
    let passes = 0
    const pass = (isOver: Effect.Effect<boolean>) =>
      afterCooldown(
        Effect.suspend(() => {
          passes += 1
          return isOver
        })
      )
    const first = yield* Effect.forkChild(pass(Deferred.await(ended)), { startImmediately: true })
    yield* pass(Effect.succeed(true))
    expect(passes).toBe(1)
    yield* Deferred.succeed(ended, false)
    yield* Fiber.join(first)
    yield* pass(Effect.succeed(true))
    expect(passes).toBe(2)
    yield* pass(Effect.succeed(true))
    expect(passes).toBe(2)
    yield* TestClock.adjust("1 second")
    yield* pass(Effect.succeed(true))
    expect(passes).toBe(3)
  })
)
