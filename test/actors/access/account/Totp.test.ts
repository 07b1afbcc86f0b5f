import { expect, test } from "bun:test"
import { codeOf, stepOf } from "../../../../actors/access/account/SecondFactors.ts"

const secret = new TextEncoder().encode("12345678901234567890")

test("six-digit TOTP codes match the test vectors of RFC 4226 and RFC 6238", () => {
  const counted = Array.from({ length: 10 }, (_, step) => codeOf(secret, step))
  expect(counted).toEqual([
    "755224",
    "287082",
    "359152",
    "969429",
    "338314",
    "254676",
    "287922",
    "162583",
    "399871",
    "520489"
  ])
  const timed = [
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"]
  ] as const
  for (const [seconds, code] of timed) expect(codeOf(secret, Math.floor(seconds / 30))).toBe(code)
})

test("a TOTP code is valid for its own and the adjacent time steps, but not at or before the last accepted step", () => {
  const at = (step: number) => step * 30_000
  expect(stepOf(secret, codeOf(secret, 7), at(7), null)).toBe(7)
  expect(stepOf(secret, codeOf(secret, 7), at(7) + 29_999, null)).toBe(7)
  expect(stepOf(secret, codeOf(secret, 7), at(6), null)).toBe(7)
  expect(stepOf(secret, codeOf(secret, 7), at(8), null)).toBe(7)
  for (const millis of [at(9), at(6) - 1]) expect(stepOf(secret, codeOf(secret, 7), millis, null)).toBeUndefined()
  for (const last of [7, 8]) expect(stepOf(secret, codeOf(secret, 7), at(7), last)).toBeUndefined()
  expect(stepOf(secret, codeOf(secret, 7), at(7), 6)).toBe(7)
  expect(stepOf(secret, codeOf(secret, 0), 0, null)).toBe(0)
  for (const code of ["", "28708", "2870820", "abcdef"]) expect(stepOf(secret, code, at(1), null)).toBeUndefined()
})
