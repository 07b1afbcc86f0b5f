import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { areLost } from "../../../../actors/running/agent/LostAnswers.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import { agentEventText, agentFacts } from "../../../../src/cli/remote/AgentText.ts"
import { applyingOn, farPlane, world } from "../../../src/http/support/FarPlane.ts"
import type { TestAgent } from "../../../src/http/support/TestAgent.ts"
import { suite } from "../../../support/Effect.ts"

setDefaultTimeout(60_000)
const plane = suite(farPlane)
afterAll(plane.dispose)

const second = 1_000_000_000n

test.each([
  [29, 10n * second, false],
  [30, 10n * second, true],
  [300, 20n * second, true],
  // No response was lost, because the agent received its last response just before it began to wait. This happens during a
  // server outage, or after the machine was suspended.
  [300, 299n * second, false],
  [300, 296n * second, false],
  [300, undefined, false]
])("an agent that waits %p s after a response %p ns ago has lost its responses: %p", (waits, answeredAgo, isLost) => {
  expect(areLost(waits, answeredAgo)).toBe(isLost)
})

const eventsOf = Effect.fnUntraced(function* (runId: RunId) {
  const { items } = yield* (yield* RunStreams).events(runId, 0, 100)
  return items.flatMap((event) => (event.kind === "agent.unanswered" || event.kind === "agent.answered" ? [event] : []))
})

const renewal = (agent: TestAgent, claim: { readonly runId: RunId; readonly fence: number }, waits?: number) =>
  agent.as(
    agent.client.Renew({
      held: [{ ...claim, spoolBytes: 0 }],
      disk: agent.facts.disk,
      draining: false,
      ...(waits === undefined ? {} : { unansweredSeconds: waits })
    })
  )

plane.live("an agent whose requests arrive but whose responses are lost is marked until it receives a response", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const { claim } = yield* applyingOn(agent, "unanswered")
    const runs = yield* Runs
    const shown = Effect.map(runs.read(claim.runId), (run) => run.agent?.unansweredSince)
    // The server has not responded to any request yet.
    yield* renewal(agent, claim, 120)
    expect(yield* shown).toBeUndefined()
    yield* renewal(agent, claim, 5)
    expect(yield* shown).toBeUndefined()
    for (const _ of [1, 2]) yield* renewal(agent, claim, 120)
    const since = (yield* shown) ?? (yield* Effect.die(new Error("It is not shown")))
    const run = yield* runs.read(claim.runId)
    expect(run.agentUnreachableSince).toBeUndefined()
    expect(new Map(agentFacts(run)).get("unanswered")).toContain("lost since")
    // An agent of an earlier release does not report the time, so svc does not change the mark.
    yield* renewal(agent, claim)
    expect(yield* shown).toBe(since)
    yield* renewal(agent, claim, 0)
    expect(yield* shown).toBeUndefined()
    const events = yield* eventsOf(claim.runId)
    expect(events.map(({ data, kind }) => `${kind} ${data.since}`)).toEqual([
      `agent.unanswered ${since}`,
      `agent.answered ${since}`
    ])
    expect(events.map(({ data, kind }) => agentEventText(kind, { ...data }))).toEqual([
      expect.stringContaining("acknowledgements do not arrive"),
      expect.stringContaining("arrive at the agent again")
    ])
  })
)
