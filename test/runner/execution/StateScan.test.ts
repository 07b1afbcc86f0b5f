import { describe, expect, test } from "bun:test"
import { Effect, Option } from "effect"
import { parseState } from "../../../runner/execution/StateFile.ts"
import { scanState } from "../../../runner/execution/StateScan.ts"

const bytes = (content: string) => new TextEncoder().encode(content)
const scanned = (content: Uint8Array) => Effect.runPromise(scanState(content))

const head = '"version": 4, "serial": 6, "lineage": "L"'
const resource = (more: string) => `{${head}, "resources": [{"mode": "managed", "type": "t", "name": "n"${more}}]}`

/** Documents that are states. */
const states = [
  `{${head}}`,
  ` \n\t{"lineage":"L","resources":null,"outputs":null,"serial":6,"version":4}\r\n`,
  `{"version":4,"serial":6e0,"lineage":"\\u004c\\n"}`,
  `{"ser\\u0069al":6,"version":4,"lineage":"L"}`,
  `{${head}, "outputs": {"a": {"value": [1, {"b": null}], "type": ["list", "string"], "sensitive": true}}}`,
  resource(""),
  resource(', "instances": null'),
  resource(', "instances": [{}, {"index_key": 1, "attributes": null, "deposed": null}]'),
  resource(
    ', "instances": [{"attributes": {"id": "x", "n": -1.50e+3}, "sensitive_attributes": [[{"type": "get_attr", "value": "n"}], []]}]'
  ),
  `{${head}, "resources": [{"instances": [{}, {}, {}], "mode": "managed"}, {"instances": [{}], "mode": "data"}]}`,
  `{${head}, "anything": {"serial": "x", "lineage": 1, "resources": 7}, "more": [[], {}, [{"mode": 4}], "\\ud83d\\ude00 \\"ü"]}`,
  `{"serial": 6, "lineage": "L", "encrypted_data": "abc", "meta": {}}`
]

/** Documents that are not states. */
const others = [
  "",
  "x",
  "[]",
  '"text"',
  "{}",
  `{${head}`,
  `{${head}}}`,
  `{${head}} x`,
  `{${head},}`,
  `{${head}, "a": [1,]}`,
  `{${head}, "a": [1 2]}`,
  `{${head}, "a" 1}`,
  `{${head}, a: 1}`,
  `{${head}, "a": 01}`,
  `{${head}, "a": +1}`,
  `{${head}, "a": 1.}`,
  `{${head}, "a": tru}`,
  `{${head}, "a": "b}`,
  `{${head}, "a": "\t"}`,
  `{${head}, "a": "\\x"}`,
  `{${head}, "a": "\\u12g4"}`,
  `{${head}, "a": {]}`,
  `{"version":4,"serial":6,"lineage":"L",xxxxx`,
  `{"a":"b, "serial":99,"lineage":"L",xxx`,
  '{"version": 4, "serial": 6}',
  '{"version": 4, "lineage": "L"}',
  '{"serial": 6, "lineage": "L"}',
  '{"version": 3, "serial": 6, "lineage": "L"}',
  '{"version": 4, "serial": "6", "lineage": "L"}',
  '{"version": 4, "serial": 6.5, "lineage": "L"}',
  '{"version": 4, "serial": 99999999999999999999, "lineage": "L"}',
  '{"version": 4, "serial": 6, "lineage": ""}',
  '{"version": 4, "serial": null, "lineage": "L"}',
  `{"a": {${head}}}`,
  `[{${head}}]`,
  `{${head}, "terraform_version": null}`,
  `{${head}, "outputs": []}`,
  `{${head}, "outputs": {"a": {"value": 1}}}`,
  `{${head}, "outputs": {"a": {"value": 1, "type": "string", "sensitive": "yes"}}}`,
  `{${head}, "resources": {}}`,
  `{${head}, "resources": [1]}`,
  `{${head}, "resources": [{}]}`,
  resource(', "module": 1'),
  resource(', "instances": {}'),
  resource(', "instances": [null]'),
  resource(', "instances": [{"attributes": []}]'),
  resource(', "instances": [{"deposed": 1}]'),
  resource(', "instances": [{"sensitive_attributes": [{}]}]'),
  resource(', "instances": [{"sensitive_attributes": [[{"type": "x"}]]}]')
]

const parsed = (content: Uint8Array) =>
  Option.map(parseState(content), ({ lineage, managed, serial }) => ({
    serial,
    lineage,
    resourceCount: managed?.length
  }))

describe("Scanned states", () => {
  test.each(states)("a scanned state has the same identity as the parsed state: %s", async (content) => {
    const found = await scanned(bytes(content))
    expect(Option.isSome(found)).toBe(true)
    expect(found).toEqual(parsed(bytes(content)))
  })

  test.each(others)("the scan rejects every document that the parser rejects: %s", async (content) => {
    expect(Option.isNone(parsed(bytes(content)))).toBe(true)
    expect(Option.isNone(await scanned(bytes(content)))).toBe(true)
  })

  test.each(states)("the scan rejects a state that is truncated at any position: %s", async (content) => {
    const whole = bytes(content.trimEnd())
    for (let end = 0; end < whole.length; end += 1) {
      expect({ end, isNone: Option.isNone(await scanned(whole.subarray(0, end))) }).toEqual({ end, isNone: true })
    }
  })

  test.each([`{${head}, "serial": 7}`, `{${head}, "lineage": "other"}`, resource(', "mode": "data"')])(
    "a document that contains its identity twice is not a state: %s",
    async (content) => {
      expect(Option.isNone(await scanned(bytes(content)))).toBe(true)
    }
  )

  test("the scan rejects a state that is not UTF-8, or is nested more deeply than any tool writes", async () => {
    const latin = Buffer.from(`{${head}, "a": "ü"}`, "latin1")
    expect(Option.isNone(await scanned(latin))).toBe(true)
    const nested = (depth: number) => bytes(`{${head}, "a": ${"[".repeat(depth)}${"]".repeat(depth)}}`)
    expect(Option.isSome(await scanned(nested(900)))).toBe(true)
    expect(Option.isNone(await scanned(nested(1000)))).toBe(true)
  })
})
