import { describe, expect, test } from "bun:test"
import { closesCycle } from "../../../../actors/ledger/dependency/DependencyCycle.ts"

const edges = (...pairs: ReadonlyArray<string>) =>
  pairs.map((pair) => ({ producer: pair.slice(0, 1), consumer: pair.slice(1) }))

describe("a dependency", () => {
  test.each([
    ["of a Capsule on itself", [], "aa", true],
    ["the other way round", ["ab"], "ba", true],
    ["through two others", ["ab", "bc"], "ca", true],
    ["beside the chain", ["ab", "bc"], "ac", false],
    ["twice the same way", ["ab"], "ab", false],
    ["of a diamond", ["ab", "ac", "bd"], "cd", false],
    ["into a diamond from below", ["ab", "ac", "bd", "cd"], "da", true]
  ] as const)("the dependency %s closes a cycle: %p", (_, known, pair, cycle) => {
    expect(closesCycle(edges(...known), { producer: pair.slice(0, 1), consumer: pair.slice(1) })).toBe(cycle)
  })

  test("the cycle search terminates in a graph that already contains a cycle", () => {
    expect(closesCycle(edges("ab", "ba"), { producer: "a", consumer: "c" })).toBe(false)
  })
})
