import { describe, expect, test } from "bun:test"
import { Effect, Redacted, Stream } from "effect"
import * as fc from "fast-check"
import { LogLines, longestLine } from "../../../runner/redaction/LogLines.ts"
import { redactedLines } from "./support/RedactedLines.ts"
import { logText, plainText } from "../../../runner/redaction/LogText.ts"
import { redactionMark } from "../../../runner/redaction/RedactionMark.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { directRedactor } from "../../support/DirectRedactor.ts"
import { anyText } from "../../support/AnyText.ts"
import { it } from "../../support/Effect.ts"

describe("logText", () => {
  test("log text keeps colours and drops every other terminal command", () => {
    expect(logText("\u001b[1;31mred\u001b[0m")).toBe("\u001b[1;31mred\u001b[0m")
    expect(logText("\u009b31mred")).toBe("\u001b[31mred")
    expect(logText("a\u001b]0;title\u0007b\u001b]8;;https://evil.test\u001b\\link\u001b]8;;\u001b\\c")).toBe("ablinkc")
    expect(logText("\u001b[2J\u001b[Hcleared\u001b(B\u001b7\u001bPdata\u001b\\")).toBe("cleared")
    expect(plainText("\u001b[1;31mred\u001b[0m\r\n")).toBe("red\n")
  })

  test("log text shows a visible form of every character that would overwrite, hide or reorder text", () => {
    expect(logText("fine\rforged")).toBe("fine\\x0dforged")
    expect(logText("line\r\nnext\tcell")).toBe("line\nnext\tcell")
    expect(logText("a\u0000b\u0008c\u007f\u0085")).toBe("a\\x00b\\x08c\\x7f\\x85")
    expect(logText("\u202egnp.exe\u2066 \u2028\ufeff")).toBe("U+202Egnp.exeU+2066 U+2028U+FEFF")
    expect(logText("\u001b]0;never ends")).toBe("\\x1b]0;never ends")
    expect(logText("\ud800")).toBe("\ufffd")
  })

  test("log text contains only text, tabs, line feeds and colours", () => {
    const unit = fc.oneof(anyText(3), fc.constantFrom("\u001b", "\u009b", "[", "]", "0m", "\u0007"))
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 30 }), (units) => {
        const shown = logText(units.join(""))
        expect(shown.replaceAll("\u001b[", "")).not.toMatch(/(?![\t\n])\p{Cc}/u)
        expect(plainText(units.join(""))).not.toMatch(/(?![\t\n])\p{Cc}/u)
        expect(plainText(shown)).toBe(plainText(units.join("")))
      }),
      { numRuns: 500 }
    )
  })
})

describe("LogLines", () => {
  test("log lines split at LF, CRLF and CR, regardless of where chunks end", () => {
    const text = "one\ntwo\r\nthree 10%\rthree 20%\r\n\nlast"
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), (size) => {
        const lines = new LogLines()
        const found: Array<string> = []
        for (let start = 0; start < text.length; start += size)
          found.push(...lines.push(text.slice(start, start + size)))
        expect([...found, ...lines.end()]).toEqual(["one", "two", "three 10%", "three 20%", "", "last"])
      })
    )
  })

  test("an overlong log line is split, but never inside a character", () => {
    const lines = new LogLines()
    const text = `${"x".repeat(longestLine - 1)}😀${"y".repeat(2 * longestLine)}`
    const found = [...lines.push(text), ...lines.push("z\nnext\n"), ...lines.end()]
    expect(found.slice(0, -1).join("")).toBe(`${text}z`)
    expect(found.at(-1)).toBe("next")
    expect(Math.max(...found.map((line) => line.length))).toBeLessThanOrEqual(longestLine)
    expect(found.every((line) => line.isWellFormed())).toBe(true)
  })
})

describe("redactedLines", () => {
  it.effect("log bytes are redacted across chunks, lines and split characters", () =>
    Effect.gen(function* () {
      const secret = "gehäuse-schlüssel"
      const redactor = new Redactor([{ origin: "", value: Redacted.make(secret) }])
      const bytes = new TextEncoder().encode(
        `\u001b[32mkey ${secret}\u001b[0m\r\nlong ${"-".repeat(longestLine)}${secret}`
      )
      const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
        bytes.subarray(index * 7, index * 7 + 7)
      )
      const lines = yield* Stream.runCollect(redactedLines(directRedactor(redactor))(Stream.fromIterable(chunks)))
      expect(lines[0]).toBe(`\u001b[32mkey ${redactionMark}\u001b[0m`)
      expect(lines.slice(1).join("")).toBe(`long ${"-".repeat(longestLine)}${redactionMark}`)
    })
  )

  it.effect("log bytes that are not UTF-8 are shown as replacement characters", () =>
    Effect.gen(function* () {
      const lines = yield* Stream.runCollect(
        redactedLines(directRedactor(new Redactor()))(Stream.make(Uint8Array.from([0x61, 0xff, 0x0a])))
      )
      expect(lines).toEqual(["a\ufffd"])
    })
  )
})
