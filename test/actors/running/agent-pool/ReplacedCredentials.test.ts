import { describe, expect, test } from "bun:test"
import {
  type AgentCredentials,
  holdersOf,
  replacedOf
} from "../../../../actors/running/agent-pool/ReplacedCredentials.ts"

const plan = [{ name: "cloud", mark: "a" }]

/** Returns an agent that has these credentials. A credential without a mark represents an agent of an earlier release. */
const agent = (agentId: string, own: Readonly<Record<string, string | undefined>>): AgentCredentials => ({
  agentId,
  names: Object.keys(own),
  marks: Object.entries(own).flatMap(([name, mark]) => (mark === undefined ? [] : [{ name, mark }]))
})

/** Returns the same agent, but silent for a long time. */
const silent = (...given: Parameters<typeof agent>): AgentCredentials => ({ ...agent(...given), isSilent: true })

const cases: ReadonlyArray<
  readonly [
    title: string,
    agents: ReadonlyArray<AgentCredentials>,
    replaced: ReadonlyArray<string>,
    holders: ReadonlyArray<string> | undefined
  ]
> = [
  ["no agent has any", [], [], undefined],
  ["the agents have none for now", [agent("one", {}), agent("two", { other: "x" })], [], undefined],
  ["the agent has the same", [agent("one", { cloud: "a" })], [], ["one"]],
  ["the agent has others", [agent("one", { cloud: "b" })], ["cloud"], undefined],
  ["one of two still has them", [agent("one", { cloud: "b" }), agent("two", { cloud: "a" })], [], ["two"]],
  ["nobody says that it has them", [agent("one", { cloud: "b" }), agent("two", { cloud: "c" })], ["cloud"], undefined],
  ["one does not say which it has", [agent("one", { cloud: "b" }), agent("two", { cloud: undefined })], [], ["two"]],
  ["none says which it has", [agent("one", { cloud: undefined })], [], ["one"]],
  ["the only one is silent", [silent("one", { cloud: "a" })], [], ["one"]],
  ["one that is silent has them", [silent("one", { cloud: "a" }), agent("two", { cloud: "b" })], ["cloud"], undefined],
  [
    "a silent one may have them",
    [silent("one", { cloud: undefined }), agent("two", { cloud: "b" })],
    ["cloud"],
    undefined
  ],
  ["a silent one has them, the rest say nothing", [silent("one", { cloud: "a" }), agent("two", {})], [], ["one"]],
  ["all are silent", [silent("one", { cloud: "a" }), silent("two", { cloud: "b" })], [], ["one"]],
  ["a silent one has them, too", [silent("one", { cloud: "a" }), agent("two", { cloud: "a" })], [], ["two"]],
  ["one has none for now", [agent("one", { cloud: "b" }), agent("two", {})], ["cloud"], undefined]
]

describe("Plan credentials", () => {
  test.each(cases)("%s", (_, agents, replaced, holders) => {
    expect(replacedOf(plan, agents)).toEqual([...replaced])
    expect(holdersOf(plan, agents)).toEqual(holders === undefined ? undefined : [...holders])
  })

  test("each credential of a plan can be replaced separately, but one agent must hold all of them", () => {
    const both = [...plan, { name: "other", mark: "x" }]
    const agents = [agent("one", { cloud: "a", other: "y" }), agent("two", { cloud: "b", other: "x" })]
    expect(replacedOf(both, agents)).toEqual([])
    expect(holdersOf(both, agents)).toBeUndefined()
    expect(replacedOf(both, agents.slice(0, 1))).toEqual(["other"])
    expect(holdersOf(both, [...agents, agent("three", { cloud: "a", other: "x" })])).toEqual(["three"])
    expect(holdersOf([], agents)).toBeUndefined()
  })
})
