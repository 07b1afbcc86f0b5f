import { describe, expect, test } from "bun:test"
import { Effect, Option, Redacted, Schema } from "effect"
import { containsRoundedNumber, jsonOfType, withExactNumbers } from "../../../schema/json/ExactNumbers.ts"
import { PlanDocument } from "../../../runner/execution/PlanDocument.ts"
import { planSensitiveTexts, projectPlan } from "../../../runner/execution/PlanProjection.ts"
import { parseState } from "../../../runner/execution/StateFile.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { directRedactor } from "../../support/DirectRedactor.ts"

const decodePlanDocument = Schema.decodeUnknownEffect(Schema.fromJsonString(PlanDocument))

describe("Tool numbers", () => {
  test.each([
    ['{"a":9007199254740993}', '{"a":"9007199254740993"}'],
    [
      '{"a":-12345678901234567891,"b":[12345678901234567891]}',
      '{"a":"-12345678901234567891","b":["12345678901234567891"]}'
    ],
    ["12345678901234567891", '"12345678901234567891"'],
    ['{"a":9007199254740992,"b":9007199254740991}', '{"a":9007199254740992,"b":9007199254740991}'],
    ['{"a":0.12345678901234567891,"b":0.25}', '{"a":"0.12345678901234567891","b":0.25}'],
    ['{"a":12345678901234.123456}', '{"a":"12345678901234.123456"}'],
    ['{"a":9223372036854775808,"b":9007199254740994}', '{"a":"9223372036854775808","b":9007199254740994}'],
    ['{"a":1000000000000000000000,"b":0.0000001}', '{"a":"1000000000000000000000","b":"0.0000001"}'],
    ['{"a":1e300,"b":1e400,"c":-2.50}', '{"a":"1e300","b":"1e400","c":-2.50}'],
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

  test("reviewers see a change in only the last digit of a number", () => {
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

test.each([
  ["0.1", false],
  ["1e-7", false],
  ["1e23", false],
  ["1.0", false],
  ["9007199254740994", false],
  ["9007199254740993", true],
  ["9223372036854775808", true],
  ["0.12345678901234567891", true],
  ["1e400", true],
  [`1${"0".repeat(2000)}1`, true]
])("a double would round the number %s: %p", (number, rounded) => {
  expect(containsRoundedNumber(`{"a":["9007199254740993",${number}]}`)).toBe(rounded)
})

describe("values are written as JSON with the tool's original numbers", () => {
  const big = "9007199254740993"

  test.each([
    [big, "number", big],
    [big, "string", `"${big}"`],
    [big, null, `"${big}"`],
    ["not a number", "number", '"not a number"'],
    [[big, 1], ["list", "number"], `[${big},1]`],
    [[big, big], ["tuple", ["number", "string"]], `[${big},"${big}"]`],
    [{ k: [big] }, ["map", ["set", "number"]], `{"k":[${big}]}`],
    [
      { a: big, b: big, c: null },
      ["object", { a: "number", b: "string", c: "dynamic" }],
      `{"a":${big},"b":"${big}","c":null}`
    ],
    [{ a: big }, ["object", { a: "number" }, ["a"]], `{"a":${big}}`],
    [{ toString: big }, ["object", {}], `{"toString":"${big}"}`],
    [true, "bool", "true"]
  ] as const)("the value %j of the type %j is written as JSON", (value, type, expected) => {
    expect(jsonOfType(value, type)).toBe(expected)
  })
})
