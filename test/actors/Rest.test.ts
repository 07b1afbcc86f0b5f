import { expect, test } from "bun:test"
import { isResting } from "../../actors/Rest.ts"

test("background work rests for its time, and never for as long as the date was wrong", () => {
  const rest = 100
  expect(isResting(undefined, rest, 1000)).toBe(false)
  expect(isResting(1000, rest, 1000)).toBe(true)
  expect(isResting(1000, rest, 1099)).toBe(true)
  expect(isResting(1000, rest, 1100)).toBe(false)
  // The date was corrected backward after the work ended.
  expect(isResting(1000, rest, 999)).toBe(false)
})
