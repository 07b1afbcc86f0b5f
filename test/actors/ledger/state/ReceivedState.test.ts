import { describe, expect, test } from "bun:test"
import { Effect, Redacted } from "effect"
import { identifyReceivedState } from "../../../../actors/ledger/state/ReceivedState.ts"

const text = (content: string) => Redacted.make(new TextEncoder().encode(content))
const state = (serial: number, lineage: string, more = "") =>
  `{\n  "version": 4,\n  "terraform_version": "1.11.4",\n  "serial": ${serial},\n  "lineage": "${lineage}",\n  "outputs": {},\n  "resources": []${more}\n}`
const most = 17 * 1024 * 1024
const head = '{"version":4,"serial":4,"lineage":"one",'
/** Returns a state that is larger than the service's parser accepts. */
const large = (serial: number, lineage: string) => state(serial, lineage, `, "check_results": "${"x".repeat(most)}"`)

const base = { lineage: "one", serial: 3 }

describe("Received states", () => {
  test.each<[string, string, string | undefined]>([
    ["continues the base", state(4, "one"), undefined],
    ["is of another lineage", state(4, "other"), "lineage_changed"],
    ["is older", state(2, "one"), "serial_decreased"],
    ["is no state", "not a state", "unreadable"],
    ["is large and continues the base", large(4, "one"), undefined],
    ["is large and of another lineage", large(4, "other"), "lineage_changed"],
    ["is large and older", large(2, "one"), "serial_decreased"],
    ["is large and no state", "x".repeat(most), "unreadable"],
    [
      "is large and names a lineage inside of something else",
      `{"a":{"serial":4,"lineage":"one",${" ".repeat(most)}}}`,
      "unreadable"
    ],
    ["is large, and only its head is one", `${head}${"x".repeat(most)}`, "unreadable"],
    ["is large, and has no end", `${head}"outputs":{},"resources":[${" ".repeat(most)}`, "unreadable"],
    [
      "is large, and has a head within a string",
      `{"a":"b, "serial":4,"lineage":"one",${"x".repeat(most)}`,
      "unreadable"
    ],
    [
      "is large, and says later what it is instead",
      `${head}"a":"${"x".repeat(most)}","lineage":"other"}`,
      "unreadable"
    ],
    ["is large, and its resources are none", `${head}"a":"${"x".repeat(most)}","resources":[7]}`, "unreadable"],
    [
      "is large, and says late what it is",
      `{"version":4,"a":"${"x".repeat(most)}","lineage":"one","serial":4}`,
      undefined
    ]
  ])("%s", async (_, content, problem) => {
    const sent = text(content)
    const found = await Effect.runPromise(identifyReceivedState(sent, base))
    if (problem === undefined) {
      expect(found.state).toBe(sent)
      expect([found.lineage, found.serial, found.stateProblem]).toEqual(["one", 4, undefined])
    } else {
      // svc keeps the rejected state, so that a person can examine it.
      expect(found.state).toBeUndefined()
      expect(found.stateProblem === problem).toBe(true)
      expect(found.rejectedState).toBe(sent)
    }
  })

  test("svc accepts an agent's state as the Capsule's first state, and accepts an apply without a state", async () => {
    expect((await Effect.runPromise(identifyReceivedState(text(state(1, "new")), undefined))).lineage).toBe("new")
    expect(await Effect.runPromise(identifyReceivedState(undefined, base))).toEqual({})
  })
})
