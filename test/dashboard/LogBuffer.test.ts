import { describe, expect, test } from "bun:test"
import type { LogEntry } from "../../src/dashboard/api/Types.ts"
import { LogBuffer } from "../../src/dashboard/screens/run/LogBuffer.ts"

const entry = (seq: number, text: string): LogEntry => ({
  seq,
  at: "2026-11-20T09:00:00.000Z",
  phase: "plan",
  stream: "stdout",
  text
})

const textsOf = (buffer: LogBuffer) => Array.from({ length: buffer.length }, (_, index) => buffer.line(index)?.text)

describe("Log buffer", () => {
  test("a log splits its entries into numbered lines, including empty lines", () => {
    const buffer = new LogBuffer()
    buffer.append([entry(1, "a\nb\n"), entry(2, ""), entry(3, "c\r\nd")])
    expect(textsOf(buffer)).toEqual(["a", "b", "", "c", "d"])
    expect(buffer.line(4)?.number).toBe(5)
  })

  test("a log line shows only the text after its last carriage return", () => {
    const buffer = new LogBuffer()
    buffer.append([entry(1, "10%\r50%\r100%")])
    expect(textsOf(buffer)).toEqual(["100%"])
  })

  test("a log is saved as plain text", () => {
    const buffer = new LogBuffer()
    buffer.append([entry(1, "\u001b[32mok\u001b[0m")])
    expect(buffer.plainText()).toBe("2026-11-20T09:00:00.000Z ok\n")
  })
})
