import { describe, expect, test } from "bun:test"
import { ansiPieces, stripAnsi } from "../../src/dashboard/screens/run/Ansi.ts"

const esc = "\u001b"

describe("Log colours", () => {
  test("a log line keeps its colours as class names, and drops the escape codes", () => {
    expect(ansiPieces(`${esc}[1m${esc}[31mError:${esc}[0m no`)).toEqual([
      { text: "Error:", className: "ansi-bold ansi-red" },
      { text: " no", className: "" }
    ])
  })

  test("a log line shows bright colours, 256 colours and true colours with the theme's palette", () => {
    expect(
      ansiPieces(`${esc}[92ma${esc}[38;5;196mb${esc}[38;2;0;0;255mc${esc}[48;5;2md`).map(({ className }) => className)
    ).toEqual(["ansi-green", "ansi-red", "ansi-blue", "ansi-blue ansi-on-green"])
  })

  test("a log line drops cursor moves, clears, titles and links, and keeps their text", () => {
    const line = `${esc}[2J${esc}[10;10Ha${esc}]0;owned\u0007b${esc}]8;;javascript:alert(1)${esc}\\link${esc}]8;;${esc}\\c`
    expect(stripAnsi(line)).toBe("ablinkc")
    expect(
      ansiPieces(line)
        .map(({ text }) => text)
        .join("")
    ).toBe("ablinkc")
  })

  test("a log line may contain unterminated escape sequences", () => {
    expect(stripAnsi(`a${esc}]0;title without end`)).toBe("a")
    expect(stripAnsi(`a${esc}[31`)).toBe("a31")
    expect(stripAnsi(`a${esc}`)).toBe("a")
  })

  test("a log line shows markup as literal text", () => {
    expect(ansiPieces("<img src=x onerror=alert(1)>")).toEqual([
      { text: "<img src=x onerror=alert(1)>", className: "" }
    ])
  })
})
