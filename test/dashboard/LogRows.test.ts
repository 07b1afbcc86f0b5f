import { describe, expect, test } from "bun:test"
import type { LogEntry } from "../../src/dashboard/api/Types.ts"
import { LogBuffer } from "../../src/dashboard/screens/run/LogBuffer.ts"
import { extended, hashOf, rangeOf } from "../../src/dashboard/screens/run/LogLink.ts"
import { LogRows, piecesBetween, rowStarts } from "../../src/dashboard/screens/run/LogRows.ts"

const entry = (text: string): LogEntry => ({
  seq: 1,
  at: "2026-11-20T09:00:00.000Z",
  phase: "plan",
  stream: "stdout",
  text
})

const logOf = (...lines: ReadonlyArray<string>) => {
  const buffer = new LogBuffer()
  buffer.append(lines.map(entry))
  return buffer
}

const placesOf = (rows: LogRows) => Array.from({ length: rows.count() }, (_, row) => rows.at(row))

describe("Log rows", () => {
  test("log rows equal the log's lines if no line wraps", () => {
    expect(placesOf(new LogRows(logOf("a", "b".repeat(500)), undefined))).toEqual([
      { index: 0, part: 0 },
      { index: 1, part: 0 }
    ])
  })

  test("a long line continues in further rows, which can be found by the line number", () => {
    const rows = new LogRows(logOf("a", "b".repeat(25), "c"), 10)
    expect(placesOf(rows)).toEqual([
      { index: 0, part: 0 },
      { index: 1, part: 0 },
      { index: 1, part: 1 },
      { index: 1, part: 2 },
      { index: 2, part: 0 }
    ])
    expect([0, 1, 2].map((index) => rows.rowOf(index))).toEqual([0, 1, 4])
  })

  test("log rows grow with the log", () => {
    const buffer = logOf("a")
    const rows = new LogRows(buffer, 10)
    expect(rows.count()).toBe(1)
    buffer.append([entry("b".repeat(11))])
    expect(rows.count()).toBe(3)
  })

  test("log rows can be read for a range of lines", () => {
    const buffer = logOf("a", "Error: no", "  in main.tf", "b", "Warning: old", "c")
    const rows = new LogRows(buffer, undefined, ({ level }) => level !== "plain")
    expect(placesOf(rows).map((place) => buffer.line(place?.index ?? -1)?.text)).toEqual([
      "Error: no",
      "  in main.tf",
      "Warning: old"
    ])
    expect(buffer.errors).toEqual([1])
  })

  test("log rows count wide characters as two columns, and never split them", () => {
    expect(rowStarts("日本語です", 4)).toEqual([0, 2, 4])
    expect(rowStarts("ab😀cd", 3)).toEqual([0, 2, 5])
    expect(rowStarts("", 10)).toEqual([0])
  })

  test("log rows break after a space, and within a word that is too long", () => {
    const parts = (text: string, columns: number) => {
      const starts = rowStarts(text, columns)
      return starts.map((start, row) => text.slice(start, starts[row + 1]))
    }
    expect(parts("the plan has changes", 9)).toEqual(["the plan ", "has ", "changes"])
    expect(parts("Error: abcdefghijkl", 10)).toEqual(["Error: ", "abcdefghij", "kl"])
    expect(parts("    abcdefgh", 8)).toEqual(["    abcd", "efgh"])
    expect(parts("exactly ten", 11)).toEqual(["exactly ten"])
    expect(parts("日本 語の 説明", 6)).toEqual(["日本 ", "語の ", "説明"])
    for (const text of ["a b c d e f", "日本語 の文", "x".repeat(30), " ".repeat(30), "ab😀 cd😀 ef"]) {
      for (const columns of [3, 5, 7]) {
        expect(parts(text, columns).join("")).toBe(text)
        expect(new Set(rowStarts(text, columns)).size).toBe(rowStarts(text, columns).length)
      }
    }
  })

  test("log rows keep the colours of their lines", () => {
    const pieces = [
      { text: "abc", className: "ansi-red" },
      { text: "def", className: "" }
    ]
    expect(piecesBetween(pieces, 2, 5)).toEqual([
      { text: "c", className: "ansi-red" },
      { text: "de", className: "" }
    ])
  })
})

describe("Line links", () => {
  test("a link to log lines identifies one line or several", () => {
    expect(["#L12", "#L12-L14", "#L14-12", "#L0", "#Lx", ""].map(rangeOf)).toEqual([
      { from: 12, to: 12 },
      { from: 12, to: 14 },
      { from: 12, to: 14 },
      undefined,
      undefined,
      undefined
    ])
    expect([hashOf({ from: 3, to: 3 }), hashOf({ from: 3, to: 9 })]).toEqual(["#L3", "#L3-L9"])
  })

  test("a link to log lines can be extended in both directions", () => {
    expect(extended({ from: 5, to: 5 }, 9)).toEqual({ from: 5, to: 9 })
    expect(extended({ from: 5, to: 9 }, 2)).toEqual({ from: 2, to: 9 })
    expect(extended(undefined, 2)).toEqual({ from: 2, to: 2 })
  })
})
