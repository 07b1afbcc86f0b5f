import { expect, test } from "bun:test"
import { Result, type Schema } from "effect"
import * as fc from "fast-check"
import { decodeJson } from "../../../schema/json/JsonDocument.ts"
import { privateValuesLimits } from "../../../schema/json/JsonLimits.ts"
import { exceedsJsonLimits } from "../../../schema/json/JsonValueBounds.ts"

const nest = (depth: number): Schema.Json => {
  let value: Schema.Json = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { k: value }
  return value
}

test.each([
  ["depth 32", nest(32), undefined],
  ["depth 33", nest(33), "too_deep"],
  ["4,096 nodes", Array.from({ length: 4095 }, () => 0), undefined],
  ["4,097 nodes", Array.from({ length: 4096 }, () => 0), "too_many_nodes"],
  ["key of 256 bytes", { [`${"k".repeat(253)}あ`]: 1 }, undefined],
  ["key of 257 bytes", { [`${"k".repeat(254)}あ`]: 1 }, "key_too_long"],
  ["string of 32,768 bytes", `${"s".repeat(32_764)}😀`, undefined],
  ["string of 32,769 bytes", `${"s".repeat(32_765)}😀`, "string_too_long"]
] as const)("the value limits apply to %s (J1)", (_, value, expected) => {
  expect(exceedsJsonLimits(value, privateValuesLimits)).toBe(expected)
})

test("a limit that is not set is not enforced", () => {
  expect(exceedsJsonLimits(nest(40), {})).toBeUndefined()
  expect(exceedsJsonLimits(nest(40), { maxDepth: 39 })).toBe("too_deep")
})

test("the limits on a value agree with the limits on its JSON text", () => {
  const limits = { maxDepth: 2, maxNodes: 6, maxKeyBytes: 3, maxStringBytes: 4 }
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), (text) => {
      const scanned = decodeJson(new TextEncoder().encode(text), { ...limits, maxBytes: 100_000 })
      expect(exceedsJsonLimits(JSON.parse(text), limits) === undefined).toBe(Result.isSuccess(scanned))
    }),
    { numRuns: 300 }
  )
})
