import { describe, expect, test } from "bun:test"
import { LogSearch } from "../../src/dashboard/screens/run/LogSearch.ts"

/** Provides these lines to the search, and counts how often the search reads a line. */
const linesOf = (texts: Array<string>) => {
  const looked = { count: 0 }
  return {
    looked,
    add: (...more: ReadonlyArray<string>) => {
      texts.push(...more)
    },
    lines: {
      get length() {
        return texts.length
      },
      line: (index: number) => {
        looked.count += 1
        const text = texts[index]
        return text === undefined ? undefined : { text }
      }
    }
  }
}

const all = (search: LogSearch) => {
  while (!search.done) search.step(100)
  return search.matches
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`)

describe("Log search", () => {
  test("a log search ignores colour codes and case", () => {
    const { lines } = linesOf(["no", "\u001b[31mErr\u001b[0mor: disk"])
    expect(all(new LogSearch(lines, "error: D"))).toEqual([1])
    expect(all(new LogSearch(lines, ""))).toEqual([])
    expect(all(new LogSearch(lines, "nothing"))).toEqual([])
  })

  test("a log search never reads more lines at once than its limit", () => {
    const { lines, looked } = linesOf(numbered(100_000))
    const search = new LogSearch(lines, "line 9")
    for (let steps = 1; !search.done; steps += 1) {
      search.step(1000)
      expect(looked.count).toBe(steps * 1000)
    }
    expect(search.matches.length).toBe(11_111)
  })

  test("a log search reads new lines as they arrive, and no line twice", () => {
    const { add, lines, looked } = linesOf(numbered(1000))
    const search = new LogSearch(lines, "line 1")
    all(search)
    looked.count = 0
    for (let batch = 0; batch < 10; batch += 1) {
      add("line 1 again", "another")
      expect(search.done).toBe(false)
      all(search)
    }
    expect(looked.count).toBe(20)
    expect(search.matches.length).toBe(111 + 10)
  })

  test("a log search for a longer string checks only the matches of the shorter string", () => {
    const { add, lines, looked } = linesOf(numbered(10_000))
    const shorter = new LogSearch(lines, "Line 77")
    all(shorter)
    looked.count = 0
    add("line 777 once more")
    expect(all(new LogSearch(lines, "line 777", shorter))).toEqual([
      777,
      ...Array.from({ length: 10 }, (_, n) => 7770 + n),
      10_000
    ])
    expect(looked.count).toBe(111 + 1)
  })

  test("a log search for a longer string continues where the search for the shorter string stopped", () => {
    const { lines } = linesOf(numbered(5000))
    for (const [given, then] of [
      [10, 30],
      [900, 950],
      [3000, 4000]
    ] as const) {
      const first = new LogSearch(lines, "l")
      first.step(given)
      const second = new LogSearch(lines, "line 4", first)
      second.step(then)
      expect(all(new LogSearch(lines, "line 42", second))).toEqual(all(new LogSearch(lines, "line 42")))
    }
  })

  test("a log search for a different string starts over", () => {
    const { lines } = linesOf(numbered(100))
    const other = new LogSearch(lines, "line 5")
    all(other)
    expect(all(new LogSearch(lines, "line 7", other))).toEqual([7, ...Array.from({ length: 10 }, (_, n) => 70 + n)])
    expect(all(new LogSearch(lines, "line", other)).length).toBe(100)
  })
})
