import { expect, test } from "bun:test"
import { isCoolingDown } from "../../actors/Cooldown.ts"

test("background work cools down for its interval, but never for as long as the clock was wrong", () => {
  const cooldown = 100
  expect(isCoolingDown(undefined, cooldown, 1000)).toBe(false)
  expect(isCoolingDown(1000, cooldown, 1000)).toBe(true)
  expect(isCoolingDown(1000, cooldown, 1099)).toBe(true)
  expect(isCoolingDown(1000, cooldown, 1100)).toBe(false)
  // The clock was set back after the work finished.
  expect(isCoolingDown(1000, cooldown, 999)).toBe(false)
})
