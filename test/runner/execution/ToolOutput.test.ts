import { describe, expect, test } from "bun:test"
import { Option, Redacted } from "effect"
import * as fc from "fast-check"
import { longestMessage, MessageLines } from "../../../runner/execution/MessageLines.ts"
import { continuationProblem, parseState } from "../../../runner/execution/StateFile.ts"
import { parseToolMessage } from "../../../runner/execution/ToolMessage.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const linesOf = (chunks: ReadonlyArray<Uint8Array>) => {
  const lines = new MessageLines()
  return [...chunks.flatMap((chunk) => lines.push(chunk)), ...lines.end()]
}

describe("MessageLines", () => {
  test("tool output yields the same lines regardless of where it is split", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat(9)), (texts, sizes) => {
        const whole = bytes(texts.map((text) => text.replaceAll(/[\r\n]/g, "")).join("\n"))
        const chunks: Array<Uint8Array> = []
        let offset = 0
        for (const size of [...sizes, whole.byteLength]) {
          chunks.push(whole.subarray(offset, offset + size))
          offset += size
        }
        expect(linesOf(chunks)).toEqual(linesOf([whole]))
      }),
      { numRuns: 100 }
    )
  })

  test("an endless line uses bounded memory, and the next line is read normally", () => {
    const half = bytes("x".repeat(longestMessage - 1))
    const [long, next, ...rest] = linesOf([half, half, bytes("\nnext\r\n")])
    expect(long?.cut).toBe(true)
    expect(long?.text.length).toBe(longestMessage)
    expect(next).toEqual({ text: "next", cut: false })
    expect(rest).toEqual([])
  })

  test("only a state printed by the tool may exceed the maximum line length", () => {
    const dump = `{"@level":"info","@message":"Emergency state dump","state":"${"x".repeat(2 * longestMessage)}"}`
    expect(linesOf([bytes(dump)])).toEqual([{ text: dump, cut: false }])
  })
})

describe("parseToolMessage", () => {
  test("tool output that is not a message is written to the log", () => {
    for (const line of ["", "plain", "{", "[]", "null", '{"type":"version"}', '{"@message":3}']) {
      expect(Option.isNone(parseToolMessage(line))).toBe(true)
    }
  })

  test("a message of an unknown or malformed kind is treated as text", () => {
    for (const line of [
      '{"@message":"m","type":"apply_start","hook":{}}',
      '{"@message":"m","type":"diagnostic","diagnostic":null}',
      '{"@message":"m","type":"constructor"}'
    ]) {
      expect(Option.getOrUndefined(parseToolMessage(line))).toEqual({ _tag: "Text", text: "m" })
    }
  })

  test("tool diagnostics keep their location", () => {
    const line = JSON.stringify({
      "@message": "Error: x",
      type: "diagnostic",
      diagnostic: { severity: "error", summary: "x", detail: "", range: { filename: "a.tf", start: { line: 3 } } }
    })
    expect(Option.getOrUndefined(parseToolMessage(line))).toMatchObject({
      _tag: "Diagnostic",
      diagnostic: { severity: "error", summary: "x", path: "a.tf", line: 3 }
    })
  })
})

describe("parseState", () => {
  const state = {
    version: 4,
    serial: 3,
    lineage: "l",
    outputs: { pw: { value: "output-secret", type: "string", sensitive: true }, n: { value: 1, type: "number" } },
    resources: [
      {
        mode: "managed",
        instances: [
          {
            attributes: { list: [{ key: "attribute-secret" }], open: "open-text" },
            sensitive_attributes: [
              [
                { type: "get_attr", value: "list" },
                { type: "index", value: { value: 0, type: "number" } },
                { type: "get_attr", value: "key" }
              ]
            ]
          },
          {}
        ]
      },
      { mode: "data", instances: [{}] }
    ]
  }

  test("reading a state counts managed instances and collects values marked as sensitive", () => {
    const parsed = Option.getOrUndefined(parseState(bytes(JSON.stringify(state))))
    expect(parsed).toMatchObject({ serial: 3, lineage: "l", resourceCount: 2 })
    expect(parsed?.sensitiveTexts).toEqual(["output-secret", "attribute-secret"])
    expect(parsed?.outputs?.map(({ name, value }) => [name, Redacted.value(value)])).toEqual([
      ["pw", "output-secret"],
      ["n", 1]
    ])
  })

  test("reading a state rejects a state that is truncated at any position", () => {
    const whole = JSON.stringify(state)
    for (let length = 0; length < whole.length; length += 7) {
      expect(Option.isNone(parseState(bytes(whole.slice(0, length))))).toBe(true)
    }
    for (const other of ['{"version":3,"serial":1,"lineage":"l"}', '{"version":4,"serial":1,"lineage":""}', "[]"]) {
      expect(Option.isNone(parseState(bytes(other)))).toBe(true)
    }
  })

  test("an encrypted state shows its lineage and serial, but no outputs", () => {
    const parsed = parseState(
      bytes('{"serial":1,"lineage":"l","meta":{},"encrypted_data":"AA","encryption_version":"v0"}')
    )
    expect(Option.getOrUndefined(parsed)).toMatchObject({ serial: 1, lineage: "l", outputs: undefined })
  })

  test("a state continues its base only with the same lineage and a serial that is not lower", () => {
    const base = { lineage: "l", serial: 2 }
    expect(continuationProblem(undefined, base)).toBeUndefined()
    expect(continuationProblem(base, base)).toBeUndefined()
    expect(continuationProblem(base, { lineage: "l", serial: 1 })).toBe("serial_decreased")
    expect(continuationProblem(base, { lineage: "m", serial: 9 })).toBe("lineage_changed")
  })
})
