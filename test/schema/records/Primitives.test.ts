import { ReAdoptionRequest } from "../../../schema/api/ConfigurationRequests.ts"
import { expect, test } from "bun:test"
import { Option, Schema } from "effect"
import { GivenTime } from "../../../schema/records/Primitives.ts"

const decode = Schema.decodeUnknownOption(GivenTime)

test.each(["2026-11-21T10:00:00.000Z", "2028-02-29T23:59:59.999Z", "9999-12-31T23:59:59.999Z"])(
  "the time %s exists",
  (text) => {
    expect(Option.isSome(decode(text))).toBe(true)
  }
)

test.each([
  "2026-02-30T00:00:00.000Z",
  "2027-02-29T00:00:00.000Z",
  "2026-13-01T00:00:00.000Z",
  "2026-12-99T00:00:00.000Z",
  "2026-11-21T24:00:00.000Z",
  "2026-11-21T25:61:61.000Z",
  "2026-11-21T10:00:00Z",
  "2026-11-21T10:00:00.000+02:00"
])("the time %s does not exist", (text) => {
  expect(Option.isNone(decode(text))).toBe(true)
})

test("a reason must be readable text", () => {
  const isReason = Schema.is(ReAdoptionRequest.fields.reason)
  expect(["Moved to the new region", "a\nb", "理由"].map((text) => isReason(text))).toEqual([true, true, true])
  expect(["", "   ", "\n", "\u200b \u2060", "a\u0000", "x".repeat(1001)].map((text) => isReason(text))).toEqual([
    false,
    false,
    false,
    false,
    false,
    false
  ])
})
