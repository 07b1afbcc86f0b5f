import { afterAll, expect } from "bun:test"
import { Duration, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { owesEvidence } from "../../../../actors/ledger/run/PendingAgentState.ts"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Agents } from "../../../../actors/running/agent-pool/Agents.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { runnerFailure } from "../../../../runner/execution/RunnerFailure.ts"
import type { UnfinishedApply } from "../../../../runner/execution/RunOutcome.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { suite } from "../../../support/Effect.ts"
import { freshKey, settled, stepped } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import {
  after,
  text,
  stateFile,
  evidence,
  world,
  begun,
  reviewable,
  offerTo,
  planOn,
  applyingOn,
  renewal,
  farPlane
} from "../support/FarPlane.ts"
import { digestOf, testAgent } from "../support/TestAgent.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

plane.live(
  "an agent executes a plan and its apply from the offer to the settlement",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { capsuleId, claim } = yield* applyingOn(agent, "whole")
      const blob = yield* agent.put(claim, "state", stateFile(1))
      const checkpoint = { ...claim, serial: 1, resourceCount: 1, blob }
      for (const _ of [1, 2]) yield* agent.as(agent.client.Checkpoint(checkpoint))
      const state = yield* agent.put(claim, "state", stateFile(2))
      yield* agent.finish(
        claim,
        {
          kind: "apply",
          status: "ended",
          outcome: {
            ...evidence,
            exit: "succeeded",
            lineage: "lineage",
            serial: 2,
            resourceCount: 1,
            outputs: [{ name: "value", type: "string", value: Redacted.make("one"), sensitive: false }],
            changedAnything: true,
            possiblyCreated: [],
            sandboxKilled: false
          }
        },
        { lastBatch: 0, state }
      )
      expect((yield* settled(claim.runId)).status).toBe("succeeded")
      expect(yield* (yield* Capsules).read(capsuleId)).toMatchObject({ status: "active", currentStateGeneration: 1 })
      const sql = yield* SqlClient.SqlClient
      const saved =
        yield* sql`SELECT COUNT(*) AS saved FROM run_events WHERE run_id = ${claim.runId} AND kind = 'state.saved'
        AND CAST(json_extract(data, '$.final') AS INTEGER) = 0`
      expect(saved[0]).toEqual({ saved: 1 })
      const logs = yield* sql<{ entries: string }>`SELECT entries FROM run_log_chunks`
      expect(logs.filter(({ entries }) => entries.includes("planning")).length).toBe(1)
      expect(logs.some(({ entries }) => entries.includes("\\u001b"))).toBe(false)
    }),
  120_000
)

plane.live(
  "a silent agent's apply is settled once its lease expires, and its later results become evidence",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const { capsuleId, claim } = yield* applyingOn(agent, "lost")
      const blob = yield* agent.put(claim, "state", stateFile(1))
      yield* agent.as(agent.client.Checkpoint({ ...claim, serial: 1, resourceCount: 1, blob }))
      const monitor = yield* AgentMonitor
      const runs = yield* Runs
      yield* after(31, monitor.look)
      expect(yield* runs.read(claim.runId)).toMatchObject({
        status: "running",
        agentUnreachableSince: expect.any(String)
      })
      // Once the agent reports again, svc clears `agentUnreachableSince`.
      yield* renewal(agent, claim)
      expect((yield* runs.read(claim.runId)).agentUnreachableSince).toBeUndefined()
      yield* after(2700, monitor.look)
      yield* after(2780, monitor.look)
      expect((yield* runs.read(claim.runId)).status).toBe("running")
      yield* after(2700 + 60 + 27 + 2, monitor.look)
      const lost = yield* settled(claim.runId)
      expect(lost).toMatchObject({ status: "failed", error: { code: "agent_lost" } })
      expect(yield* (yield* Capsules).read(capsuleId)).toMatchObject({ status: "error", runtimeSafety: "unknown" })
      // The server refuses the returning agent, which then hands in its results. svc stores a repeated result once.
      const gone = yield* Effect.flip(agent.as(agent.client.Start(claim)))
      expect(gone).toMatchObject({ _tag: "Gone" })
      expect((yield* renewal(agent, claim)).gone).toMatchObject([{ order: "hand_in" }])
      const left: UnfinishedApply = {
        state: Redacted.make(stateFile(3)),
        lineage: "lineage",
        serial: 3,
        resourceCount: 1,
        started: [],
        completed: [{ address: "terraform_data.it", action: "create" }],
        possiblyCreated: [],
        changedAnything: true
      }
      const first = yield* agent.leftOver(claim, left)
      expect(first.evidenceId.startsWith("evd_")).toBe(true)
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT reason, serial FROM left_over_states WHERE run_id = ${claim.runId}`).toEqual([
        { reason: "handed_in", serial: 3 }
      ])
    }),
  120_000
)

plane.live(
  "an agent executes a speculative plan, which waits for no other Run and has no stored plan file",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const { context } = yield* TestPlane
      const agent = yield* enrolled()
      const id = yield* begun("shown-on-agent")
      yield* planOn(agent, (yield* offerTo(agent)).offer)
      const { capsuleId, planRunId } = yield* reviewable(id)
      if (capsuleId === undefined || planRunId === undefined) return expect(planRunId).toBeDefined()
      const request = { ref: "shown-on-agent", speculative: true } as const
      const { value } = yield* (yield* RevisionPlans).create(context, capsuleId, request, freshKey())
      const { offer } = yield* offerTo(agent)
      yield* planOn(agent, offer)
      const plan = yield* stepped((yield* RevisionPlanCommands).Reconcile(value.id, { context }))
      expect(plan).toMatchObject({ phase: "reviewable", planRunId: offer.runId })
      const run = yield* settled(offer.runId)
      expect([run.status, run.speculative, run.approvedAt]).toEqual(["succeeded", true, undefined])
      expect((yield* settled(planRunId)).status).toBe("waiting_approval")
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT run_id FROM run_plans WHERE run_id = ${run.id}`).toEqual([])
    }),
  120_000
)

plane.live("an agent that reports that its tool never started has nothing left to deliver", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const { claim } = yield* applyingOn(agent, "never-started")
    yield* (yield* AgentMonitor).release(claim.runId)
    yield* settled(claim.runId)
    const sql = yield* SqlClient.SqlClient
    const owed = sql`SELECT r.run_id FROM agent_runs r WHERE r.run_id = ${claim.runId} AND ${sql.literal(owesEvidence("r."))}`
    expect(yield* owed).toHaveLength(1)
    const nothing = { started: [], completed: [], possiblyCreated: [], changedAnything: false }
    yield* agent.leftOver(claim, { ...nothing, neverStarted: true })
    expect(yield* owed).toEqual([])
    const told = yield* sql`SELECT action FROM audit_events WHERE target_id = ${claim.runId} AND action LIKE 'agent.%'`
    expect(told).toEqual([{ action: "agent.never_started" }])
  })
)

plane.live("an agent's claim that a tool never started is rejected if the tool was seen working", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const sql = yield* SqlClient.SqlClient
    const monitor = yield* AgentMonitor
    const nothing = {
      neverStarted: true,
      started: [],
      completed: [],
      possiblyCreated: [],
      changedAnything: false
    } as const
    const resource = { address: "terraform_data.it", action: "create" }
    const begun = { kind: "run.phase" as const, data: { phase: "apply" as const } }
    const lies: Readonly<Record<string, UnfinishedApply>> = {
      phase: nothing,
      checkpoint: nothing,
      started: { ...nothing, started: [resource] },
      completed: { ...nothing, completed: [resource] },
      created: { ...nothing, possiblyCreated: [resource.address] },
      state: { ...nothing, state: Redacted.make(stateFile(3)) },
      rejected: { ...nothing, rejectedState: Redacted.make(stateFile(3)), stateProblem: "unreadable" }
    }
    for (const [name, left] of Object.entries(lies)) {
      const { claim } = yield* applyingOn(agent, `seen-${name}`)
      if (name === "phase") {
        const entries = [{ kind: "event" as const, at: new Date().toISOString(), fact: begun }]
        yield* agent.as(agent.client.Report({ ...claim, batch: { number: 1, entries } }))
      }
      if (name === "checkpoint") {
        const blob = yield* agent.put(claim, "state", stateFile(1))
        yield* agent.as(agent.client.Checkpoint({ ...claim, serial: 1, resourceCount: 1, blob }))
      }
      yield* monitor.release(claim.runId)
      yield* settled(claim.runId)
      expect([name, yield* Effect.flip(agent.leftOver(claim, left))]).toMatchObject([name, { _tag: "Rejected" }])
      const owed = yield* sql`SELECT r.run_id FROM agent_runs r
        WHERE r.run_id = ${claim.runId} AND ${sql.literal(owesEvidence("r."))}`
      expect([name, owed.length]).toEqual([name, 1])
    }
  })
)

plane.live(
  "an offer belongs to one agent and one fence, and an old fence writes nothing",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const one = yield* enrolled()
      const id = yield* begun("offers")
      const { name, offer } = yield* offerTo(one)
      const again = (yield* one.next(name)).offer
      expect(again).toMatchObject({ runId: offer.runId, fence: offer.fence, snapshot: offer.snapshot })
      const monitor = yield* AgentMonitor
      yield* after(31, monitor.look)
      const two = yield* enrolled()
      const second = (yield* offerTo(two)).offer
      expect(second.runId).toBe(offer.runId)
      expect(second.fence).toBeGreaterThan(offer.fence)
      expect(yield* Effect.flip(one.as(one.client.Accept(offer)))).toMatchObject({ _tag: "Gone" })
      yield* two.as(two.client.Accept(second))
      const claim = { runId: second.runId, fence: second.fence }
      const batch = { number: 1, entries: [] }
      // Requests from another agent or with an old fence are rejected.
      for (const lie of [claim, { runId: offer.runId, fence: offer.fence }]) {
        expect(yield* Effect.flip(one.as(one.client.Report({ ...lie, batch })))).toMatchObject({ _tag: "Gone" })
        expect((yield* one.get(lie, "snapshot", second.snapshot)).status).toBe(410)
        const bytes = text("x")
        expect((yield* one.send(lie, "outcome", digestOf(bytes), bytes, 0, 1)).status).toBe(410)
      }
      // After an agent has been silent for a minute, its plan starts over once.
      yield* after(61, monitor.look)
      const third = (yield* offerTo(two)).offer
      expect(third).toMatchObject({ runId: offer.runId })
      expect(third.fence).toBeGreaterThan(second.fence)
      yield* planOn(two, third)
      expect((yield* reviewable(id)).phase).toBe("reviewable")
    }),
  120_000
)

plane.live("an apply that the agent itself stopped is not reported as cancelled", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const { claim } = yield* applyingOn(agent, "stopped")
    const state = yield* agent.put(claim, "state", stateFile(1))
    const outcome = {
      ...evidence,
      exit: "cancelled" as const,
      lineage: "lineage",
      serial: 1,
      resourceCount: 1,
      outputs: [],
      changedAnything: true,
      possiblyCreated: [],
      sandboxKilled: false
    }
    yield* agent.finish(claim, { kind: "apply", status: "ended", outcome }, { lastBatch: 0, state })
    const run = yield* settled(claim.runId)
    expect(run).toMatchObject({ status: "failed", error: { code: "apply_interrupted" } })
    expect(run.stateVersionId).toBeDefined()
  })
)

plane.live(
  "a plan starts over once if its tool was killed because the agent could not keep the lease",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      yield* begun("left")
      const fences: Array<number> = []
      let runId: Parameters<typeof settled>[0] | undefined
      // In the second result, the tool stopped before it was killed, although nobody requested a stop.
      const stopped = runnerFailure("cancelled", "plan", "The run was cancelled.")
      const results = [
        { kind: "plan", status: "left" },
        { kind: "plan", status: "failed", failure: stopped }
      ] as const
      for (const result of results) {
        const { offer } = yield* offerTo(agent)
        yield* agent.as(agent.client.Accept(offer))
        yield* agent.finish(offer, result, { lastBatch: 0 })
        fences.push(offer.fence)
        expect(offer.runId).toBe((runId ??= offer.runId))
      }
      expect(fences[1]).toBeGreaterThan(fences[0] ?? 0)
      if (runId === undefined) throw new Error("nothing was offered")
      expect(yield* settled(runId)).toMatchObject({ status: "failed", attempt: 2, error: { code: "agent_lost" } })
    }),
  120_000
)

plane.live(
  "each token, nonce and session can be used only once and by only one agent, and is revoked with that agent",
  () =>
    Effect.gen(function* () {
      const { enrolled, origin, pools } = yield* world
      const { id, secret } = yield* pools.token("far", { uses: 1, lifetime: Duration.hours(1) })
      const agent = yield* testAgent(origin, secret)
      expect(yield* Effect.flip(testAgent(origin, secret))).toMatchObject({ _tag: "Unauthorised" })
      const revoked = yield* pools.token("far", { uses: 1, lifetime: Duration.hours(1) })
      yield* pools.revokeToken(revoked.id)
      expect(yield* Effect.flip(testAgent(origin, revoked.secret))).toMatchObject({ _tag: "Unauthorised" })
      expect(id.startsWith("aet_")).toBe(true)
      // The server rejects every message that has no session.
      expect(yield* Effect.flip(agent.next(agent.claim()))).toMatchObject({ _tag: "Unauthorised", retry: true })
      // The server rejects another agent's nonce and an unknown nonce.
      const other = yield* enrolled()
      const { nonce } = yield* agent.client.Challenge({ agentId: agent.agentId })
      for (const stolen of [nonce, "made-up"]) {
        const greeting = { agentId: other.agentId, nonce: stolen, signature: "AA", facts: other.facts, held: [] }
        expect(yield* Effect.flip(other.client.Hello(greeting))).toMatchObject({ _tag: "Unauthorised" })
      }
      const unsigned = yield* agent.client.Challenge({ agentId: agent.agentId })
      expect(
        yield* Effect.flip(
          agent.client.Hello({
            agentId: agent.agentId,
            nonce: unsigned.nonce,
            signature: "AA",
            facts: agent.facts,
            held: []
          })
        )
      ).toMatchObject({ _tag: "Unauthorised", retry: false })
      yield* agent.hello()
      yield* (yield* Agents).revoke(agent.agentId)
      expect(yield* Effect.flip(agent.next(agent.claim()))).toMatchObject({ _tag: "Unauthorised" })
      expect(yield* Effect.flip(agent.hello())).toMatchObject({ _tag: "Unauthorised", retry: false })
    })
)
