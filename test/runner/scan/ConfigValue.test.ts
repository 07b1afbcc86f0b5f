import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { configValue, exactJson, literalJson } from "../../../runner/scan/ConfigValue.ts"
import { propertiesOf, readLocatedJson } from "../../../runner/scan/LocatedJson.ts"

const value = (json: string, syntax: "hcl" | "json" = "hcl") =>
  configValue(Result.getOrThrow(readLocatedJson(json, 100)), syntax)

describe("configValue", () => {
  test("a configuration value is literal text or an expression, according to the parser", () => {
    expect(value('"plain { } $ % $$ text"')).toEqual({ kind: "string", value: "plain { } $ % $$ text" })
    expect(value('"$${a} %%{b} $$${c} $$$${d}"')).toEqual({ kind: "string", value: "${a} %{b} $${c} $$${d}" })
    expect(value('"${var.x}"')).toEqual({ kind: "expression", text: "var.x" })
    expect(value('"a${b}"')).toEqual({ kind: "expression", text: "a${b}" })
    expect(value('"%{if a}b%{endif}"')).toEqual({ kind: "expression", text: "%{if a}b%{endif}" })
    expect(value('{ "${(a)}": 1 }').kind).toBe("expression")
  })

  test("a configuration value in JSON syntax that may be a template is not literal", () => {
    expect(value('"$${a}"', "json").kind).toBe("expression")
    expect(value('"a $ {"', "json")).toEqual({ kind: "string", value: "a $ {" })
  })

  test("a configuration value can contain a member named __proto__", () => {
    const read = value('{ "__proto__": { "polluted": true } }')
    expect(read.kind === "object" && [...read.entries.keys()]).toEqual(["__proto__"])
    const literal = literalJson(read)
    const own = exactJson(literal?.text ?? "")
    expect(Object.keys(Object(own))).toEqual(["__proto__"])
    expect("polluted" in {}).toBe(false)
  })
})

describe("literalJson", () => {
  test("a configuration value keeps the text of each number, and reports whether it fits a double", () => {
    const numbers = [
      "0",
      "-0",
      "1",
      "1.50",
      "0.1",
      "1e3",
      "-12.5e-3",
      "9007199254740991",
      "1E+2",
      "0.30000000000000004"
    ]
    for (const text of numbers) expect(literalJson(value(text))).toEqual({ text, exact: true })
    const long = `1e-${"1".repeat(500_000)}`
    expect(literalJson({ kind: "number", text: long })).toEqual({ text: long, exact: false })
    const inexact = ["12345678901234567890", "9007199254740993", "1.000000000000000000001", "0.1000000000000000000001"]
    for (const text of inexact) expect(literalJson(value(text))).toEqual({ text, exact: false })
  })

  test("nested literals become exact JSON, but values that need evaluation do not", () => {
    expect(literalJson(value('{ "a": [1, null, true], "b": "$${x}" }'))).toEqual({
      text: '{"a":[1,null,true],"b":"${x}"}',
      exact: true
    })
    expect(literalJson(value('{ "a": [12345678901234567890] }'))?.exact).toBe(false)
    expect(literalJson(value('{ "a": ["${x}"] }'))).toBeUndefined()
  })
})

describe("readLocatedJson", () => {
  test("located JSON records the line number of every value", () => {
    const read = Result.getOrThrow(readLocatedJson('\n{ "a":\n [1,\n "x\\n"],\n\n "b": {} }', 10))
    if (read.kind !== "object") throw new Error("expected an object")
    const list = read.entries.get("a")
    expect([read.line, list?.line, read.entries.get("b")?.line]).toEqual([2, 3, 6])
    expect(list?.kind === "array" && list.items.map(({ line }) => line)).toEqual([3, 4])
  })

  test("located JSON keeps repeated keys, and reads half a surrogate pair as the tools do", () => {
    const read = Result.getOrThrow(readLocatedJson('{"a":1,"\\u0061":"\\ud800"}', 10))
    if (read.kind !== "object") throw new Error("expected an object")
    expect(propertiesOf(read)).toMatchObject([
      ["a", { kind: "number" }],
      ["a", { kind: "string", value: "\ufffd" }]
    ])
  })

  test("located JSON rejects deep nesting and malformed text", () => {
    const reasonOf = (text: string, depth = 10) => {
      const read = readLocatedJson(text, depth)
      return Result.isFailure(read) ? read.failure.reason : "none"
    }
    expect(reasonOf("[[[]]]", 2)).toBe("too_deep")
    expect(reasonOf("[1,]")).toBe("syntax")
  })
})
