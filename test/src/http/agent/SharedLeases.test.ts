import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AgentLeases } from "../../../../actors/running/agent/AgentLeases.ts"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import {
  after,
  anotherServer,
  appliedResult,
  applyingOn,
  begun,
  offerTo,
  planOn,
  reviewable,
  sharedFarPlane,
  stateFile,
  world
} from "../support/FarPlane.ts"
import type { TestAgent } from "../support/TestAgent.ts"

setDefaultTimeout(120_000)
const plane = suite(sharedFarPlane)
afterAll(plane.dispose)

type Claim = Parameters<TestAgent["put"]>[0]
type Client = TestAgent["client"]

const renewAt = (client: Client, agent: TestAgent, { fence, runId }: Claim, newestSerial?: number) =>
  agent.as(
    client.Renew({
      held: [{ runId, fence, spoolBytes: 0, ...(newestSerial === undefined ? {} : { newestSerial }) }],
      disk: agent.facts.disk,
      draining: false
    })
  )

/**
 * Starts an apply with a lease of 60 seconds. svc gives up on the apply after 121 seconds without contact. The count of
 * contacts may lag by another 5 seconds.
 */
const briefly = Effect.fnUntraced(function* (agent: TestAgent, branch: string) {
  const sql = yield* SqlClient.SqlClient
  const applying = yield* applyingOn(agent, branch)
  yield* sql`UPDATE agent_runs SET lease_seconds = 60 WHERE run_id = ${applying.claim.runId}`
  return applying
})

/** Waits until any server has settled the Run, and returns it. */
const ended = Effect.fnUntraced(function* (claim: Claim) {
  const runs = yield* Runs
  return yield* eventually(runs.read(claim.runId), ({ status }) => status !== "running")
})

/** Advances a monitor's clock in steps of 5 seconds. In each step, runs an effect and then a check. */
const judged = Effect.fnUntraced(function* <E = never, R = never>(
  monitor: AgentMonitor["Service"],
  { from, to }: { readonly from: number; readonly to: number },
  each: (second: number) => Effect.Effect<unknown, E, R> = () => Effect.void
) {
  for (let second = from; second <= to; second += 5) {
    yield* after(second, each(second))
    yield* after(second, monitor.look)
  }
})

plane.live("an apply continues even if the agent contacts only a server that does not check leases", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const { claim } = yield* briefly(agent, "moves")
    const other = yield* anotherServer
    const monitor = yield* AgentMonitor
    const sql = yield* SqlClient.SqlClient
    const heard = sql`SELECT heard FROM agent_runs WHERE run_id = ${claim.runId}`
    const before = yield* heard
    yield* renewAt(other.client, agent, claim, 2)
    expect(yield* heard).not.toEqual(before)
    // The server counts contacts every five seconds of its clock, which is stopped in this test, so the test counts the
    // contacts itself.
    const counted = sql`UPDATE agent_runs SET heard = heard + 1 WHERE run_id = ${claim.runId}`
    yield* judged(monitor, { from: 0, to: 200 }, () => counted)
    const run = yield* (yield* Runs).read(claim.runId)
    expect(run.status).toBe("running")
    expect(run.agentUnreachableSince).toBeUndefined()
    expect(run.agent?.state?.newestSerial).toBe(2)
    // The agent sends its files to one server and its result to the other.
    const state = yield* agent.put(claim, "state", stateFile(1))
    const outcome = yield* agent.put(claim, "outcome", yield* agent.outcomeOf(appliedResult(1)))
    yield* agent.as(other.client.Result({ ...claim, outcome, state, lastBatch: 0 }))
    expect((yield* ended(claim)).status).toBe("succeeded")
    yield* eventually(
      sql`SELECT digest FROM agent_blob_parts WHERE run_id = ${claim.runId}`,
      ({ length }) => length === 0
    )
  })
)

plane.live(
  "svc marks a silent agent, removes the mark once the agent contacts any server, and ends the Run when the lease expires",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* briefly(agent, "silent")
      const other = yield* anotherServer
      const monitor = yield* AgentMonitor
      const runs = yield* Runs
      yield* judged(monitor, { from: 0, to: 40 })
      expect((yield* runs.read(claim.runId)).agentUnreachableSince).toEqual(expect.any(String))
      yield* renewAt(other.client, agent, claim)
      expect((yield* runs.read(claim.runId)).agentUnreachableSince).toBeUndefined()
      yield* judged(monitor, { from: 45, to: 160 })
      expect((yield* runs.read(claim.runId)).status).toBe("running")
      yield* judged(monitor, { from: 165, to: 190 })
      expect(yield* ended(claim)).toMatchObject({ status: "failed", error: { code: "agent_lost" } })
      for (const client of [agent.client, other.client]) {
        expect((yield* renewAt(client, agent, claim)).gone).toMatchObject([{ order: "hand_in" }])
        expect(yield* Effect.flip(agent.as(client.Start(claim)))).toMatchObject({ _tag: "Gone" })
      }
    })
)

plane.live(
  "a server that takes over the lease checks starts with a full lease, and a frozen server gives up no Run",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* briefly(agent, "frozen")
      const other = yield* anotherServer
      const monitor = yield* AgentMonitor
      const runs = yield* Runs
      yield* judged(monitor, { from: 0, to: 100 })
      yield* judged(other.monitor, { from: 105, to: 200 })
      expect((yield* runs.read(claim.runId)).status).toBe("running")
      // The first server or the database was stopped for an hour.
      yield* after(10_000, monitor.look)
      yield* after(20_000, other.monitor.look)
      expect((yield* runs.read(claim.runId)).status).toBe("running")
      yield* renewAt(other.client, agent, claim)
    })
)

plane.live(
  "if an agent contacts a server just as another server gives up the Run, exactly one of the two changes takes effect",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* briefly(agent, "raced")
      const other = yield* anotherServer
      const sql = yield* SqlClient.SqlClient
      const leases = yield* AgentLeases
      const [lease] = (yield* leases.all).filter(({ runId }) => runId === claim.runId)
      if (lease === undefined) return yield* Effect.die("There is no lease")
      yield* sql`UPDATE agent_runs SET heard = heard + 1 WHERE run_id = ${claim.runId}`
      expect(yield* leases.close(lease)).toBe(false)
      const blob = yield* agent.put(claim, "state", stateFile(1))
      // The monitor has closed the claim, but its process ends before it settles the Run.
      yield* sql`UPDATE agent_runs SET closed_at = '2026-01-01T00:00:00.000Z' WHERE run_id = ${claim.runId}`
      expect((yield* renewAt(other.client, agent, claim)).leases).toEqual([])
      const checkpoint = { ...claim, serial: 1, resourceCount: 1, blob }
      expect(yield* Effect.flip(agent.as(agent.client.Checkpoint(checkpoint)))).toMatchObject({ _tag: "Gone" })
      yield* other.monitor.look
      expect(yield* ended(claim)).toMatchObject({ status: "failed", error: { code: "agent_lost" } })
    })
)

plane.live("if a server repeats an offer that another server prepared, the first offer becomes invalid", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const other = yield* anotherServer
    const id = yield* begun("offered")
    const { name, offer } = yield* offerTo(agent)
    const second = (yield* agent.as(other.client.Next({ claim: name, freePlaces: 1 }))).offer
    if (second === undefined) return yield* Effect.die("The other server has no offer")
    expect(second.runId).toBe(offer.runId)
    expect(second.fence).toBeGreaterThan(offer.fence)
    expect(yield* Effect.flip(agent.as(agent.client.Accept(offer)))).toMatchObject({ _tag: "Gone" })
    yield* planOn(agent, second)
    expect((yield* reviewable(id)).phase).toBe("reviewable")
  })
)

plane.live("another server settles a result if the server that received the result is gone", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const { claim } = yield* applyingOn(agent, "unsettled")
    const other = yield* anotherServer
    const sql = yield* SqlClient.SqlClient
    const outcome = yield* agent.put(claim, "outcome", yield* agent.outcomeOf(appliedResult(1)))
    const state = yield* agent.put(claim, "state", stateFile(1))
    const result = JSON.stringify({ outcome, state })
    // The server stores the result, but ends before it settles the Run.
    yield* sql`INSERT INTO nodes (id, incarnation, release, label, started_at, beat_at)
      SELECT installation_id || '#9999', 9999, '', '', '', '' FROM installation`
    yield* sql`UPDATE agent_runs SET result = ${result}, node_id = (SELECT installation_id || '#9999' FROM installation)
      WHERE run_id = ${claim.runId}`
    yield* other.settlement.resume
    yield* other.settlement.idle
    expect((yield* (yield* Runs).read(claim.runId)).status).toBe("running")
    yield* sql`UPDATE nodes SET gone_at = '2026-01-01T00:00:00.000Z' WHERE incarnation = 9999`
    yield* other.settlement.resume
    expect((yield* ended(claim)).status).toBe("succeeded")
  })
)
