import { expect, test } from "bun:test"
import { isResting } from "../../actors/Rest.ts"

test("background work rests for its interval, but never for as long as the clock was wrong", () => {
  const rest = 100
  expect(isResting(undefined, rest, 1000)).toBe(false)
  expect(isResting(1000, rest, 1000)).toBe(true)
  expect(isResting(1000, rest, 1099)).toBe(true)
  expect(isResting(1000, rest, 1100)).toBe(false)
  // The clock was set back after the work finished.
  expect(isResting(1000, rest, 999)).toBe(false)
})
