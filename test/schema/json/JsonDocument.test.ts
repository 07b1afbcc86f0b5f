import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import * as fc from "fast-check"
import { decodeJson } from "../../../schema/json/JsonDocument.ts"
import { type JsonLimits, repositoryFileLimits, privateValuesLimits } from "../../../schema/json/JsonLimits.ts"

const encode = (text: string) => new TextEncoder().encode(text)
const roomy: JsonLimits = {
  maxBytes: 2_000_000,
  maxDepth: 64,
  maxNodes: 1_000_000,
  maxKeyBytes: 4096,
  maxStringBytes: 1_000_000
}
const decode = (text: string, limits: Partial<JsonLimits> = {}) => decodeJson(encode(text), { ...roomy, ...limits })
const outcome = (text: string, limits: Partial<JsonLimits> = {}) =>
  Result.match(decode(text, limits), { onSuccess: () => "accepted", onFailure: (refusal) => refusal.reason })
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

describe("each JSON limit accepts a value at the limit and rejects the next larger value (J1)", () => {
  const limits = { ...roomy, ...privateValuesLimits }
  const array = (nodes: number) => `[${Array.from({ length: nodes - 1 }, () => "0").join(",")}]`
  test.each([
    ["depth 32", nested(32), "accepted"],
    ["depth 33", nested(33), "too_deep"],
    ["depth 33 of objects", `${'{"a":'.repeat(33)}1${"}".repeat(33)}`, "too_deep"],
    ["a scalar inside depth 32", `${"[".repeat(32)}1${"]".repeat(32)}`, "accepted"],
    ["4,096 nodes", array(4096), "accepted"],
    ["4,097 nodes", array(4097), "too_many_nodes"],
    ["key of 256 bytes", `{"${"k".repeat(256)}":1}`, "accepted"],
    ["key of 257 bytes", `{"${"k".repeat(257)}":1}`, "key_too_long"],
    ["key of 256 bytes, multi-byte at the edge", `{"${"k".repeat(253)}あ":1}`, "accepted"],
    ["key of 257 bytes, multi-byte at the edge", `{"${"k".repeat(254)}あ":1}`, "key_too_long"],
    ["key counted unescaped", `{"${"\\u0061".repeat(256)}":1}`, "accepted"],
    ["key of 257 bytes written by escapes", `{"${"\\u0061".repeat(257)}":1}`, "key_too_long"],
    ["string of 32,768 bytes", `"${"s".repeat(32_768)}"`, "accepted"],
    ["string of 32,769 bytes", `"${"s".repeat(32_769)}"`, "string_too_long"],
    ["string of 32,768 bytes, emoji at the edge", `"${"s".repeat(32_764)}😀"`, "accepted"],
    ["string of 32,769 bytes, emoji at the edge", `"${"s".repeat(32_765)}😀"`, "string_too_long"],
    ["string of 32,769 bytes, escaped emoji at the edge", `"${"s".repeat(32_765)}\\ud83d\\ude00"`, "string_too_long"]
  ])("%s", (_, text, expected) => {
    expect(outcome(text, limits)).toBe(expected)
  })

  test("the decoder accepts 131,072 bytes and rejects 131,073 (J5)", () => {
    const padded = (bytes: number) => encode(`"${"x".repeat(bytes - 2)}"`)
    expect(Result.isSuccess(decodeJson(padded(131_072), repositoryFileLimits))).toBe(true)
    const refused = decodeJson(padded(131_073), repositoryFileLimits)
    expect(Result.isFailure(refused) && refused.failure.reason).toBe("too_large")
    expect(Result.isFailure(refused) && refused.failure.position).toBeUndefined()
  })
})

describe("hostile documents", () => {
  test("the decoder rejects a million opening brackets at the depth limit (J2)", () => {
    const refused = decode("[".repeat(1_000_000))
    expect(Result.isFailure(refused) && refused.failure).toMatchObject({
      reason: "too_deep",
      position: { line: 1, column: 65 }
    })
  })

  test.each([
    ["at the root", '{"a":1,"a":2}'],
    ["by escape", '{"a":1,"\\u0061":2}'],
    ["by escapes written differently", '{"\\n":1,"\\u000a":2}'],
    ["an emoji and its escaped pair", '{"😀":1,"\\ud83d\\ude00":2}'],
    ["deep down", '[{"x":[{"k":1,"l":2,"k":3}]}]'],
    ["the empty key", '{"":1,"":2}'],
    ["__proto__", '{"__proto__":1,"__proto__":2}']
  ])("a duplicate key is refused: %s (J3)", (_, text) => {
    expect(outcome(text)).toBe("duplicate_key")
  })

  test("the decoder finds a duplicate among many keys", () => {
    const keys = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":1`)
    expect(outcome(`{${keys(50).join(",")}}`)).toBe("accepted")
    for (const repeated of [0, 7, 8, 9, 49])
      expect(outcome(`{${[...keys(50), `"k${repeated}":2`].join(",")}}`)).toBe("duplicate_key")
  })

  test("equal keys in sibling objects, and the NFC and NFD forms of a key, are not duplicates", () => {
    expect(outcome('[{"a":1},{"a":{"a":2}}]')).toBe("accepted")
    expect(outcome(`{"${"é".normalize("NFC")}":1,"${"é".normalize("NFD")}":2}`)).toBe("accepted")
  })

  test("the decoder treats prototype names as ordinary own keys (J4)", () => {
    const decoded = decode('{"__proto__":{"polluted":true},"constructor":1,"toString":2}')
    const value = Result.getOrThrow(decoded)
    expect(Object.keys(Object(value))).toEqual(["__proto__", "constructor", "toString"])
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false)
  })

  test.each([
    ["UTF-8 mark", [0xef, 0xbb, 0xbf, 0x7b, 0x7d], "byte_order_mark"],
    ["UTF-16 little endian", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], "byte_order_mark"],
    ["UTF-16 big endian", [0xfe, 0xff, 0x00, 0x7b, 0x00, 0x7d], "byte_order_mark"],
    ["UTF-16 without mark", [0x7b, 0x00, 0x7d, 0x00], "syntax"],
    ["stray continuation", [0x22, 0x80, 0x22], "invalid_utf8"],
    ["overlong slash", [0x22, 0xc0, 0xaf, 0x22], "invalid_utf8"],
    ["encoded surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22], "invalid_utf8"],
    ["cut sequence", [0x22, 0xe3, 0x81], "invalid_utf8"],
    ["mark inside a string is text", [0x22, 0xef, 0xbb, 0xbf, 0x22], "accepted"]
  ])("JSON bytes are decoded strictly: %s (J5)", (_, bytes, expected) => {
    const decoded = decodeJson(Uint8Array.from(bytes), roomy)
    expect(Result.match(decoded, { onSuccess: () => "accepted", onFailure: (refusal) => refusal.reason })).toBe(
      expected
    )
  })

  test("if numbers must be exact, the decoder rejects a number that a double would round, and reports its position", () => {
    const text = new TextEncoder().encode('{"a":["9007199254740993",0.1,\n 12345678901234.123456]}')
    expect(Result.isSuccess(decodeJson(text, roomy))).toBe(true)
    const refused = decodeJson(text, { ...roomy, exactNumbers: true })
    expect(Result.isFailure(refused) ? refused.failure : undefined).toMatchObject({
      reason: "number_rounded",
      position: { line: 2, column: 2 }
    })
  })

  test.each(["1e-400", "-5e-325", "1.5e-9999"])(
    "if numbers must be exact, %s is refused: a double holds 0",
    (number) => {
      const refused = decodeJson(new TextEncoder().encode(number), { ...roomy, exactNumbers: true })
      expect(Result.isFailure(refused) ? refused.failure.reason : undefined).toBe("number_rounded")
    }
  )

  test.each([
    ['"\\ud83d"', "lone_surrogate"],
    ['"\\ude00"', "lone_surrogate"],
    ['"\\ud83d\\ud83d\\ude00"', "lone_surrogate"],
    ['"\\ud83dx\\ude00"', "lone_surrogate"],
    ['{"\\udead":1}', "lone_surrogate"],
    ['"\\ud83d\\ude00"', "accepted"],
    ["1e400", "number_out_of_range"],
    ["-1e400", "number_out_of_range"],
    [`${"9".repeat(308)}`, "accepted"],
    [`${"9".repeat(309)}`, "number_out_of_range"],
    [`${"9".repeat(210)}e99`, "number_out_of_range"],
    [`${"9".repeat(199)}e99`, "accepted"],
    ["[1e308,1e-400,-0,0e999]", "accepted"]
  ])("the JSON document %s is %s (J5)", (text, expected) => {
    expect(outcome(text)).toBe(expected)
  })

  test.each([
    "",
    " ",
    "NaN",
    "Infinity",
    "undefined",
    "{} {}",
    "{}x",
    "null\u0000",
    "\u0000",
    "// c\n{}",
    "{/**/}",
    "[1,]",
    '{"a":1,}',
    "[,1]",
    "{,}",
    '{"a"}',
    '{"a":}',
    '{"a" 1}',
    "{a:1}",
    "{'a':1}",
    '{"a":1',
    "[1",
    '"',
    '"a',
    '"\\',
    '"\\u00',
    '"\\u00g0"',
    '"\\x41"',
    '"a\nb"',
    '"a\tb"',
    '"a\u0000b"',
    "01",
    "+1",
    ".5",
    "1.",
    "1e",
    "1e+",
    "-",
    "--1",
    "0x10",
    "1_000",
    "tru",
    "nulll",
    "[1 2]",
    "[1}",
    '{"a":1]',
    "]",
    "}",
    "\u00a0{}",
    "\ufeff{}",
    "\v1",
    "[true false]",
    '{"a":1 "b":2}',
    '{"a":1,,"b":2}'
  ])("text that is not JSON is refused: %j", (text) => {
    expect(outcome(text)).toBe(text === "\ufeff{}" ? "byte_order_mark" : "syntax")
  })

  test("a JSON error gives the position and repeats none of the text", () => {
    const refused = decode('{\n  "name": "canary-value",\n  "canary-key": 1,\n  "canary-key": 2\n}')
    const refusal = Result.isFailure(refused) ? refused.failure : undefined
    expect(refusal).toMatchObject({ reason: "duplicate_key", position: { line: 4, column: 3 } })
    expect(JSON.stringify(refusal)).not.toContain("canary")
  })
})

describe("against JSON.parse", () => {
  const beyondGrammar = new Set(["duplicate_key", "lone_surrogate", "number_out_of_range"])
  const anyway = (text: string) => {
    const parsed = Result.try((): unknown => JSON.parse(text))
    return Result.isSuccess(parsed) ? { value: parsed.success } : undefined
  }

  test("the output of JSON.stringify decodes to the original value", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: "binary" }), fc.constantFrom(0, 2), (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), null, indent)
        expect(Result.getOrThrow(decode(written))).toEqual(JSON.parse(text))
      }),
      { numRuns: 200 }
    )
  })

  test("the decoder accepts near-JSON exactly when JSON.parse does, except for its additional rules", () => {
    const fragments = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"b"',
      '"\\u0041"',
      '"\\n"',
      "1",
      "-0.5e+3",
      "01",
      "1.",
      "true",
      "nul",
      " ",
      "\n",
      '"',
      "\\"
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...fragments), { maxLength: 14 }), (parts) => {
        const text = parts.join("")
        const verdict = outcome(text)
        if (beyondGrammar.has(verdict)) return
        expect(verdict === "accepted").toBe(anyway(text) !== undefined)
      }),
      { numRuns: 3000 }
    )
  })

  test("the decoder gives the same verdict as JSON.parse for a document with one changed character", () => {
    const original = '{"a":[1,-2.5e3,true,null,"x\\u00e9\\\\y"],"b":{"c":[],"d":{}}}'
    fc.assert(
      fc.property(
        fc.nat(original.length),
        fc.constantFrom("", ...'{}[],:"\\0u1eE+-. \u0000'),
        fc.nat(1),
        (at, insert, remove) => {
          const text = original.slice(0, at) + insert + original.slice(at + remove)
          const verdict = outcome(text)
          if (beyondGrammar.has(verdict)) return
          expect(verdict === "accepted").toBe(anyway(text) !== undefined)
        }
      ),
      { numRuns: 2000 }
    )
  })
})
