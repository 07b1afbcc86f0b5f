import { describe, expect, test } from "bun:test"
import { Option } from "effect"
import { withSerial } from "../../../runner/execution/StateSerial.ts"

const encoded = (text: string) => new TextEncoder().encode(text)
const rewritten = (text: string, serial: number) =>
  Option.getOrUndefined(Option.map(withSerial(encoded(text), serial), (bytes) => new TextDecoder().decode(bytes)))

describe("State serials", () => {
  test("changing a state file's serial changes nothing else in the file", () => {
    const state = (serial: number) => `{
  "version": 4,
  "lineage": "a \\"serial\\": 3 b",
  "serial": ${serial},
  "outputs": {"serial": {"value": 12345678901234567890, "type": "number"}},
  "resources": [{"instances": [{"attributes": {"serial": 7, "id": "\\\\"}}]}]
}
`
    expect(rewritten(state(3), 12)).toBe(state(12))
  })

  test("a state's serial is found even after nested members with the same name", () => {
    expect(rewritten('{"a":{"serial":1},"b":[{"serial":2}],"serial" : 3}', 9)).toBe(
      '{"a":{"serial":1},"b":[{"serial":2}],"serial" : 9}'
    )
  })

  test("changing the serial fails for a document that is not a state", () => {
    for (const text of ['{"lineage":"x"}', '[{"serial":1}]', "", '{"serial":"1"}', '{"a":"serial"}', '{"serial'])
      expect(rewritten(text, 2)).toBeUndefined()
    expect(Option.isNone(withSerial(new Uint8Array([0xff, 0xfe]), 1))).toBe(true)
  })
})
