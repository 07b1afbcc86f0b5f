import { afterAll, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import {
  after,
  applyingOn,
  approvedApply,
  begun,
  farPlane,
  offerTo,
  planOn,
  renewal,
  stateFile,
  text,
  world
} from "../support/FarPlane.ts"
import { digestOf } from "../support/TestAgent.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

plane.live(
  "an agent submits a Run that the server does not know, continues an offer in transit, and rejects a second start",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const unknown = { runId: RunId.make("run_00000000000000000000000000"), fence: 3, stage: "left" as const }
      expect((yield* agent.hello([unknown])).orders).toMatchObject([{ order: "hand_in" }])
      const id = yield* begun("claims")
      const { offer } = yield* offerTo(agent)
      expect(yield* renewal(agent, offer)).toMatchObject({ leases: [{ runId: offer.runId }], gone: [] })
      yield* planOn(agent, offer)
      const { apply } = yield* approvedApply(id)
      const { offer: given } = yield* offerTo(agent)
      yield* agent.as(agent.client.Accept(given))
      const monitor = yield* AgentMonitor
      const sql = yield* SqlClient.SqlClient
      const outcome = yield* Effect.all(
        [Effect.result(agent.as(agent.client.Start(given))), after(61, monitor.look)] as const,
        { concurrency: 2 }
      )
      const [run] = yield* sql<{ status: string; fence: number; started: string | null }>`SELECT status, fence,
        start_acknowledged_at AS started FROM runs WHERE id = ${apply.id}`
      // The agent has either both started and acquired the Run, or done neither.
      expect(run?.status === "running" && run.started !== null).toBe(outcome[0]._tag === "Success")
      expect(run?.status === "queued").toBe(outcome[0]._tag === "Failure")
      if (run?.status === "queued") {
        const { offer: last } = yield* offerTo(agent)
        expect(last.fence).toBeGreaterThan(given.fence)
        yield* agent.as(agent.client.Accept(last))
      }
      yield* monitor.release(apply.id)
      yield* settled(apply.id)
    }),
  120_000
)

plane.live(
  "a cancelled apply is never offered again, and its log is closed",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const id = yield* begun("stopped")
      const { offer } = yield* offerTo(agent)
      yield* planOn(agent, offer)
      const { apply } = yield* approvedApply(id)
      const { offer: given } = yield* offerTo(agent)
      expect(given.runId).toBe(apply.id)
      yield* (yield* RunLifecycle).requestCancel(apply.id, {})
      yield* agent.as(agent.client.Decline({ runId: given.runId, fence: given.fence, reason: "no" }))
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT status, log_ended_at IS NOT NULL AS ended FROM runs WHERE id = ${apply.id}`).toEqual([
        { status: "cancelled", ended: 1 }
      ])
    }),
  120_000
)

plane.live("a draining agent process and its successor both work, and unsigned keys are rejected", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const other = yield* enrolled()
    yield* agent.hello([], { facts: { draining: true, incarnation: "1".repeat(32), hostname: "older" } })
    yield* agent.as(agent.client.Renew({ held: [], disk: agent.facts.disk, draining: true }))
    const sql = yield* SqlClient.SqlClient
    const sessions = yield* sql`SELECT draining FROM agent_sessions WHERE agent_id = ${agent.agentId} ORDER BY draining`
    expect(sessions).toEqual([{ draining: 0 }, { draining: 1 }])
    const [row] = yield* sql<{ facts: string }>`SELECT facts FROM agents WHERE id = ${agent.agentId}`
    expect(JSON.parse(row?.facts ?? "")).toMatchObject({ draining: false, hostname: "machine" })
    expect(yield* Effect.flip(agent.hello([], { unsignedKeys: other.keys }))).toMatchObject({ _tag: "Unauthorised" })
  })
)

plane.live(
  "a started apply is not abandoned before its lease expires, unless a person releases it",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { claim } = yield* applyingOn(agent, "kept")
      const monitor = yield* AgentMonitor
      yield* after(61, monitor.look)
      const sql = yield* SqlClient.SqlClient
      const [run] = yield* sql<{ status: string }>`SELECT status FROM runs WHERE id = ${claim.runId}`
      expect(run?.status).toBe("running")
      // svc rejects a blob that it cannot open while the agent still has the original.
      const bytes = text("not sealed")
      yield* agent.send(claim, "state", digestOf(bytes), bytes, 0, bytes.length)
      const result = { kind: "apply", status: "left", left: null } as const
      const refused = yield* Effect.flip(agent.finish(claim, result, { lastBatch: 0, state: digestOf(bytes) }))
      expect(refused).toMatchObject({ _tag: "Rejected" })
      yield* monitor.release(claim.runId)
      expect((yield* settled(claim.runId)).status).toBe("failed")
      // svc keeps both states as evidence, although only one of them continues the base state.
      yield* agent.leftOver(claim, {
        state: Redacted.make(stateFile(3)),
        rejectedState: Redacted.make(stateFile(9)),
        stateProblem: "lineage_changed",
        started: [],
        completed: [],
        possiblyCreated: [],
        changedAnything: true
      })
      expect(
        yield* sql`SELECT reason, serial FROM left_over_states WHERE run_id = ${claim.runId} ORDER BY serial`
      ).toEqual([
        { reason: "handed_in", serial: 3 },
        { reason: "lineage_changed", serial: 9 }
      ])
    }),
  120_000
)
