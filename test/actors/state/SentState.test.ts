import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import { sentState } from "../../../actors/state/SentState.ts"

const text = (content: string) => Redacted.make(new TextEncoder().encode(content))
const state = (serial: number, lineage: string, more = "") =>
  `{\n  "version": 4,\n  "terraform_version": "1.11.4",\n  "serial": ${serial},\n  "lineage": "${lineage}",\n  "outputs": {},\n  "resources": []${more}\n}`
/** Larger than what is parsed. */
const large = (serial: number, lineage: string) =>
  state(serial, lineage, `, "check_results": "${"x".repeat(17 * 1024 * 1024)}"`)

const base = { lineage: "one", serial: 3 }

describe("a state that an agent sent", () => {
  test.each<[string, string, string | undefined]>([
    ["continues the base", state(4, "one"), undefined],
    ["is of another lineage", state(4, "other"), "lineage_changed"],
    ["is older", state(2, "one"), "serial_decreased"],
    ["is no state", "not a state", "unreadable"],
    ["is large and continues the base", large(4, "one"), undefined],
    ["is large and of another lineage", large(4, "other"), "lineage_changed"],
    ["is large and older", large(2, "one"), "serial_decreased"],
    ["is large and no state", "x".repeat(17 * 1024 * 1024), "unreadable"],
    [
      "is large and names a lineage inside of something else",
      `{"a":{"serial":4,"lineage":"one",${" ".repeat(17 * 1024 * 1024)}}}`,
      "unreadable"
    ]
  ])("%s", (_, content, problem) => {
    const sent = text(content)
    const found = sentState(sent, base, 7)
    if (problem === undefined) {
      expect(found.state).toBe(sent)
      expect([found.lineage, found.serial, found.stateProblem]).toEqual(["one", 4, undefined])
    } else {
      // Kept for a person to look at.
      expect(found.state).toBeUndefined()
      expect(found.stateProblem === problem).toBe(true)
      expect(found.rejectedState).toBe(sent)
    }
  })

  test("is the first of a Capsule, or absent", () => {
    expect(sentState(text(state(1, "new")), undefined, 0).lineage).toBe("new")
    expect(sentState(undefined, base, 0)).toEqual({})
  })
})
