import { describe, expect, test } from "bun:test"
import { Brand } from "effect"
import {
  type AgentPlaces,
  checkToPreempt,
  placesWithLastKept,
  type RunningCheck
} from "../../../../actors/running/agent-pool/AgentPlaces.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"

// Arbitrary strings can be ids here, because the decision only compares them.
const run = Brand.nominal<RunId>()

const agent = (id: string, places: number, runs: number): AgentPlaces => ({ id, places, runs })
const check = (id: string, owner: string, more: Partial<RunningCheck> = {}): RunningCheck => ({
  id: run(id),
  owner,
  startedAt: "2026-01-01T00:00:00.000Z",
  isStopping: false,
  ...more
})

describe("Agent pool: last free place", () => {
  test.each<[string, ReadonlyArray<AgentPlaces>, number | undefined]>([
    ["nobody is there", [], undefined],
    ["the only place", [agent("one", 1, 0)], undefined],
    ["the last of two", [agent("one", 2, 1)], 2],
    ["two are free", [agent("one", 2, 1), agent("two", 1, 0)], undefined],
    ["the last of all agents", [agent("one", 2, 2), agent("two", 1, 0)], 3],
    ["none is free", [agent("one", 2, 2)], 2],
    ["more Runs than places, after a change of them", [agent("one", 1, 3), agent("two", 2, 0)], undefined]
  ])("%s", (_, agents, kept) => {
    expect(placesWithLastKept(agents)).toBe(kept)
  })
})

describe("Agent pool: Runs that give way", () => {
  const headPlan = check("a", "one", { isHeadPlan: true })
  const full = [agent("one", 1, 1), agent("two", 2, 2)]
  const late = { startedAt: "2026-01-02T00:00:00.000Z" }
  test.each<[string, ReadonlyArray<AgentPlaces>, ReadonlyArray<RunningCheck>, string | undefined]>([
    ["stops where a Run waits for its place", full, [check("a", "one")], "a"],
    ["goes on while a place is free", [agent("one", 1, 1), agent("two", 2, 1)], [check("a", "one")], undefined],
    ["goes on where its agent could not execute the Run", [agent("two", 2, 2)], [check("a", "one")], undefined],
    ["goes on where nobody could", [], [check("a", "one")], undefined],
    ["stops when it is the latest", full, [check("a", "one", late), check("b", "two")], "a"],
    ["goes on while another stops", full, [check("a", "one"), check("b", "two", { isStopping: true })], undefined],
    ["stops if it is a head's plan in the only place", [agent("one", 1, 1)], [headPlan], "a"],
    ["goes on if it is a head's plan in one of several places", full, [headPlan], undefined]
  ])("%s", (_, agents, checks, chosen) => {
    expect<string | undefined>(checkToPreempt(agents, checks)).toBe(chosen)
  })
})
