import { describe, expect, test } from "bun:test"
import { Effect, Option, Redacted, Schema } from "effect"
import { withExactNumbers } from "../../../runner/execution/ExactNumbers.ts"
import { PlanDocument } from "../../../runner/execution/PlanDocument.ts"
import { planSensitiveTexts, projectPlan } from "../../../runner/execution/PlanProjection.ts"
import { parseState } from "../../../runner/execution/StateFile.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { directRedactor } from "../../../runner/redaction/RunRedactor.ts"

const decodePlanDocument = Schema.decodeUnknownEffect(Schema.fromJsonString(PlanDocument))

describe("whole numbers in the tool's documents", () => {
  test.each([
    ['{"a":9007199254740993}', '{"a":"9007199254740993"}'],
    [
      '{"a":-12345678901234567891,"b":[12345678901234567891]}',
      '{"a":"-12345678901234567891","b":["12345678901234567891"]}'
    ],
    ["12345678901234567891", '"12345678901234567891"'],
    ['{"a":9007199254740992,"b":9007199254740991}', '{"a":9007199254740992,"b":9007199254740991}'],
    ['{"a":0.12345678901234567891,"b":1e300}', '{"a":0.12345678901234567891,"b":1e300}'],
    ['{"9007199254740993":"9007199254740993"}', '{"9007199254740993":"9007199254740993"}'],
    ['{"a":"\\"9007199254740993","b":9007199254740993}', '{"a":"\\"9007199254740993","b":"9007199254740993"}'],
    ['{"a":"\\\\","b":9007199254740993}', '{"a":"\\\\","b":"9007199254740993"}'],
    ['{"a":9007199254740993,"b":"cut off', '{"a":"9007199254740993","b":"cut off']
  ])("%s", (document, expected) => {
    expect(withExactNumbers(document)).toBe(expected)
  })

  test("Outputs in a state keep every digit", () => {
    const text = `{"version":4,"serial":1,"lineage":"l","outputs":{"n":{"value":12345678901234567891,"type":"number"}}}`
    const state = Option.getOrThrow(parseState(new TextEncoder().encode(text)))
    expect(state.outputs?.map(({ value }) => Redacted.value(value))).toEqual(["12345678901234567891"])
  })

  test("a sensitive number is recognised by the digits that the tool prints", () => {
    const text = `{"version":4,"serial":1,"lineage":"l","outputs":{"n":{"value":12345678901234567891,"type":"number","sensitive":true}}}`
    const state = Option.getOrThrow(parseState(new TextEncoder().encode(text)))
    expect(state.sensitiveTexts).toEqual(["12345678901234567891"])
  })

  test("reviewers see a change in the last digit", () => {
    const change = (before: string, after: string) =>
      `{"format_version":"1.2","resource_changes":[{"address":"a.b","type":"a","name":"b",
        "change":{"actions":["update"],"before":{"n":${before}},"after":{"n":${after}}}}],
        "output_changes":{"o":{"actions":["update"],"before":${before},"after":${after},"after_sensitive":true}}}`
    const plan = Effect.runSync(decodePlanDocument(withExactNumbers(change("9007199254740992", "9007199254740993"))))
    expect(
      Effect.runSync(projectPlan(plan, directRedactor(new Redactor()))).resourceChanges[0]?.changedAttributes
    ).toEqual([{ name: "n", before: 9007199254740992, after: "9007199254740993" }])
    expect(planSensitiveTexts(plan)).toContain("9007199254740993")
  })
})
