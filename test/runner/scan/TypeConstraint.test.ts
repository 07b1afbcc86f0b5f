import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { configValue } from "../../../runner/scan/ConfigValue.ts"
import { readLocatedJson } from "../../../runner/scan/LocatedJson.ts"
import { acceptsDefault, parseTypeConstraint } from "../../../runner/scan/TypeConstraint.ts"

const kindOf = (text: string) =>
  Result.match(parseTypeConstraint(text), { onSuccess: ({ kind }) => kind, onFailure: () => "invalid" })

const accepts = (type: string, json: string) =>
  acceptsDefault(
    Result.getOrThrow(parseTypeConstraint(type)),
    configValue(Result.getOrThrow(readLocatedJson(json, 50)), "hcl")
  )

describe("parseTypeConstraint", () => {
  test("the scan reads every kind of type constraint", () => {
    const kinds: ReadonlyArray<readonly [string, string]> = [
      ["string", "string"],
      [" number # comment", "number"],
      ["bool", "bool"],
      ["any", "any"],
      ["list", "sequence"],
      ["map", "map"],
      ["list(string)", "sequence"],
      ["set(list(any))", "sequence"],
      ["map ( number )", "map"],
      ["tuple([string, number,])", "tuple"],
      ["tuple([])", "tuple"],
      ["object({})", "object"],
      ['object({ a = string, b = optional(map(string), { x = ")" })\n c : number\n d = bool /* } */ })', "object"]
    ]
    for (const [text, kind] of kinds) expect([text, kindOf(text)]).toEqual([text, kind])
  })

  test("the scan rejects type constraints that the language rejects", () => {
    const invalid = [
      "",
      "strng",
      "(string)",
      "list()",
      "set",
      "list(string",
      "string)",
      "tuple(string)",
      "object({a})",
      "object({a=string,a=string})",
      "optional(string)",
      "string number",
      "var.x",
      `${"list(".repeat(200)}any${")".repeat(200)}`
    ]
    for (const text of invalid) expect([text, kindOf(text)]).toEqual([text, "invalid"])
  })
})

describe("acceptsDefault", () => {
  test("a default is converted between primitive types by the rules of the language", () => {
    expect(accepts("string", "1")).toBe(true)
    expect(accepts("string", "[]")).toBe(false)
    expect(accepts("number", '"1.5"')).toBe(true)
    expect(accepts("number", '"x"')).toBe(false)
    expect(accepts("bool", '"true"')).toBe(true)
    expect(accepts("bool", '"yes"')).toBe(false)
    expect(accepts("bool", "null")).toBe(true)
    expect(accepts("number", '"${f()}"')).toBe(true)
  })

  test("the scan also checks defaults inside collections", () => {
    expect(accepts("list(number)", "[1]")).toBe(true)
    expect(accepts("list(number)", '["x"]')).toBe(false)
    expect(accepts("map(bool)", '{"a":true}')).toBe(true)
    expect(accepts("map(bool)", "[]")).toBe(false)
    expect(accepts("tuple([string])", '["a","b"]')).toBe(false)
    expect(accepts("object({a=string,b=optional(number)})", '{"a":"x","extra":1}')).toBe(true)
    expect(accepts("object({a=string})", "{}")).toBe(false)
    expect(accepts("object({__proto__=string})", "{}")).toBe(false)
  })
})
