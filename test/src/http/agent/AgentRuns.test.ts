import { afterAll, expect } from "bun:test"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AgentMonitor } from "../../../../actors/agent/AgentMonitor.ts"
import { Capsules } from "../../../../actors/capsule/Capsules.ts"
import { OperatorConfigs, type OperatorConfigsShape } from "../../../../actors/configuration/OperatorConfigs.ts"
import { InstallPlans } from "../../../../actors/install-plan/InstallPlans.ts"
import { Agents } from "../../../../actors/pool/Agents.ts"
import { Pools } from "../../../../actors/pool/Pools.ts"
import { Runs } from "../../../../actors/run/Runs.ts"
import { PoolName } from "../../../../schema/agent/PoolName.ts"
import type { JobOffer } from "../../../../schema/agent/AgentJob.ts"
import type { InstallPlanId } from "../../../../schema/records/Ids.ts"
import type { LeftOver } from "../../../../runner/execution/RunOutcome.ts"
import { suite } from "../../../support/Effect.ts"
import { freshKey, requestOf, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../../actors/support/PureRunner.ts"
import { AgentServer, digestOf, type TestAgent, testAgent } from "../support/TestAgent.ts"

type Offer = typeof JobOffer.Type

const policy: OperatorConfigsShape = {
  profiles: { far: { pool: PoolName.make("far") } },
  baseConfigs: [],
  loadedAt: "2026-01-01T00:00:00.000Z"
}
const inForce: { -readonly [Field in keyof OperatorConfigsShape]: OperatorConfigsShape[Field] } = policy

const plane = suite(
  AgentServer.layer.pipe(
    Layer.provideMerge(testPlane({ runner: pureRunner(pureModules()) })),
    Layer.provide(Layer.succeed(OperatorConfigs, inForce))
  )
)
afterAll(plane.dispose)

/** The clock of the process, so many seconds later: for how long something is silent, and nothing else. */
const after = <A, E, R>(seconds: number, effect: Effect.Effect<A, E, R>) =>
  Effect.clockWith((clock) => {
    const nanos = BigInt(seconds) * 1_000_000_000n
    const later: Clock.Clock = Object.assign(Object.create(clock), {
      monotonicTimeNanos: Effect.map(clock.monotonicTimeNanos, (at) => at + nanos)
    })
    return Effect.provideService(effect, Clock.Clock, later)
  })

const text = (words: string) => new TextEncoder().encode(words)

/** The state that the apply of a test makes, as the tool would write it. */
const stateFile = (serial: number) =>
  text(
    JSON.stringify({
      version: 4,
      terraform_version: "1.11.4",
      serial,
      lineage: "lineage",
      outputs: { value: { value: "one", type: "string" } },
      resources: [
        { mode: "managed", type: "terraform_data", name: "it", provider: "p", instances: [{ attributes: { id: "1" } }] }
      ]
    })
  )

const evidence = {
  tool: { name: "terraform" as const, version: "1.11.4" },
  sandboxLevel: "bubblewrap" as const,
  envNames: [],
  diagnostics: []
}

const world = Effect.gen(function* () {
  const { url, workspaceId } = yield* TestPlane
  const pools = yield* Pools
  if (!(yield* pools.exist)) {
    yield* pools.create("far", {})
    yield* pools.assign("far", workspaceId)
    Object.assign(inForce, { baseConfigs: [{ origin: new URL(url).origin, profile: "far" }] })
  }
  const { origin } = yield* AgentServer
  const enrolled = Effect.fnUntraced(function* (facts: Parameters<typeof testAgent>[2] = {}) {
    const { secret } = yield* pools.token("far", { uses: 1, lifetime: Duration.hours(1) })
    const agent = yield* testAgent(origin, secret, facts)
    yield* agent.hello()
    return agent
  })
  return { origin, pools, enrolled }
})

/** Begins an install; its plan waits for an agent. */
const begun = Effect.fnUntraced(function* (branch: string) {
  const { commit, context, workspaceId } = yield* TestPlane
  yield* commit(branch, pureModule)
  const created = yield* (yield* InstallPlans).create(context, workspaceId, yield* requestOf(branch), freshKey())
  return created.value.id
})

const reviewable = Effect.fnUntraced(function* (id: InstallPlanId) {
  const { context } = yield* TestPlane
  const plans = yield* InstallPlans
  for (;;) {
    const plan = yield* plans.reconcile(context, id)
    if (plan.nextAction !== "reconcile") return plan
    const run = plan.planRunId ?? plan.compatibilityCheckRunId ?? plan.syncRunId
    if (run !== undefined) yield* settled(run)
  }
})

const offerTo = Effect.fnUntraced(function* (agent: TestAgent) {
  const name = agent.claim()
  for (;;) {
    const { offer } = yield* agent.next(name)
    if (offer !== undefined) return { name, offer }
  }
})

/** Executes a plan as the agent of a test. */
const planOn = Effect.fnUntraced(function* (agent: TestAgent, offer: Offer) {
  const job = yield* agent.planJob(offer)
  yield* agent.as(agent.client.Accept(offer))
  const at = new Date().toISOString()
  const batch = {
    number: 1,
    entries: [
      { kind: "event" as const, at, fact: { kind: "run.phase" as const, data: { phase: "plan" as const } } },
      { kind: "line" as const, at, phase: "plan" as const, stream: "stdout" as const, text: "planning\u001b[31m" }
    ]
  }
  // Each message comes twice, as if its answer had been lost.
  for (const _ of [1, 2]) {
    expect(yield* agent.as(agent.client.Report({ runId: offer.runId, fence: offer.fence, batch }))).toEqual({
      acknowledged: 1
    })
  }
  const planned = text(`plan of ${offer.runId}`)
  const planFile = yield* agent.put(offer, "plan_file", planned)
  yield* agent.finish(
    offer,
    {
      kind: "plan",
      status: "ended",
      outcome: {
        ...evidence,
        tool: job.tool,
        planFile: Redacted.make(new Uint8Array(0)),
        secrets: { inputs: [], credentials: [], marked: [] },
        planDigest: digestOf(planned),
        summary: { add: 1, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 },
        resourceChanges: [],
        outputChanges: [],
        resourceDrift: [],
        plannedOutputs: [],
        hasChanges: true,
        applyable: true
      }
    },
    { lastBatch: 1, planFile }
  )
  return planned
})

const approvedApply = Effect.fnUntraced(function* (id: InstallPlanId) {
  const { context } = yield* TestPlane
  const install = yield* reviewable(id)
  if (install.planRunId === undefined || install.capsuleId === undefined) {
    return yield* Effect.die(new Error(JSON.stringify(install.diagnostics)))
  }
  const plan = yield* settled(install.planRunId)
  const runs = yield* Runs
  yield* runs.approve(context, plan.id, plan.planDigest === undefined ? {} : { planDigest: plan.planDigest })
  return { capsuleId: install.capsuleId, apply: (yield* runs.apply(context, plan.id, undefined)).value }
})

/** A Capsule whose apply an agent has begun. */
const applyingOn = Effect.fnUntraced(function* (agent: TestAgent, branch: string) {
  const id = yield* begun(branch)
  const { offer } = yield* offerTo(agent)
  const planned = yield* planOn(agent, offer)
  const { apply, capsuleId } = yield* approvedApply(id)
  const { offer: applyOffer } = yield* offerTo(agent)
  expect(applyOffer).toMatchObject({ runId: apply.id, kind: "apply", leaseSeconds: 2700 })
  // What was offered is given to nobody before it is accepted.
  expect((yield* agent.get(applyOffer, "plan_file", applyOffer.planFile ?? "")).status).toBe(410)
  yield* agent.as(agent.client.Accept(applyOffer))
  expect(yield* agent.fetched(applyOffer, "plan_file", applyOffer.planFile ?? "")).toEqual(planned)
  yield* agent.as(agent.client.Start(applyOffer))
  return { capsuleId, claim: { runId: applyOffer.runId, fence: applyOffer.fence } }
})

const held = ({ fence, runId }: { readonly runId: Offer["runId"]; readonly fence: number }) => ({
  runId,
  fence,
  spoolBytes: 0
})

const renewal = (agent: TestAgent, claim: { readonly runId: Offer["runId"]; readonly fence: number }) =>
  agent.as(agent.client.Renew({ held: [held(claim)], disk: agent.facts.disk, draining: false }))

plane.live(
  "a plan and its apply are executed by an agent: offered, started, reported once, saved, and settled from its result",
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
        AND json_extract(data, '$.final') = 0`
      expect(saved[0]).toEqual({ saved: 1 })
      const logs = yield* sql<{ entries: string }>`SELECT entries FROM run_log_chunks`
      expect(logs.filter(({ entries }) => entries.includes("planning")).length).toBe(1)
      expect(logs.some(({ entries }) => entries.includes("\\u001b"))).toBe(false)
    }),
  120_000
)

plane.live(
  "an apply whose agent stays silent is settled once its lease is over, and what the agent has is taken as evidence",
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
      // It is heard of again, and the mark goes.
      yield* renewal(agent, claim)
      expect((yield* runs.read(claim.runId)).agentUnreachableSince).toBeUndefined()
      yield* after(2700, monitor.look)
      yield* after(2780, monitor.look)
      expect((yield* runs.read(claim.runId)).status).toBe("running")
      yield* after(2700 + 60 + 27 + 2, monitor.look)
      const lost = yield* settled(claim.runId)
      expect(lost).toMatchObject({ status: "failed", error: { code: "agent_lost" } })
      expect(yield* (yield* Capsules).read(capsuleId)).toMatchObject({ status: "error", runtimeSafety: "unknown" })
      // An agent that comes back is refused, and hands in what it has; the same twice is one.
      const gone = yield* Effect.flip(agent.as(agent.client.Start(claim)))
      expect(gone).toMatchObject({ _tag: "Gone" })
      expect((yield* renewal(agent, claim)).gone).toMatchObject([{ order: "hand_in" }])
      const left: LeftOver = {
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
  "an offer belongs to one agent and one fence: repeated it is the same, unaccepted it goes to another, and an old fence writes nothing",
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
      // Neither another agent nor an old fence.
      for (const lie of [claim, { runId: offer.runId, fence: offer.fence }]) {
        expect(yield* Effect.flip(one.as(one.client.Report({ ...lie, batch })))).toMatchObject({ _tag: "Gone" })
        expect((yield* one.get(lie, "snapshot", second.snapshot)).status).toBe(410)
        const bytes = text("x")
        expect((yield* one.send(lie, "outcome", digestOf(bytes), bytes, 0, 1)).status).toBe(410)
      }
      // A plan whose agent is silent for a minute begins again, once.
      yield* after(61, monitor.look)
      const third = (yield* offerTo(two)).offer
      expect(third).toMatchObject({ runId: offer.runId })
      expect(third.fence).toBeGreaterThan(second.fence)
      yield* planOn(two, third)
      expect((yield* reviewable(id)).phase).toBe("reviewable")
    }),
  120_000
)

plane.live("tokens, nonces and sessions are good once, for one agent, and end with it", () =>
  Effect.gen(function* () {
    const { enrolled, origin, pools } = yield* world
    const { id, secret } = yield* pools.token("far", { uses: 1, lifetime: Duration.hours(1) })
    const agent = yield* testAgent(origin, secret)
    expect(yield* Effect.flip(testAgent(origin, secret))).toMatchObject({ _tag: "Unauthorised" })
    const revoked = yield* pools.token("far", { uses: 1, lifetime: Duration.hours(1) })
    yield* pools.revokeToken(revoked.id)
    expect(yield* Effect.flip(testAgent(origin, revoked.secret))).toMatchObject({ _tag: "Unauthorised" })
    expect(id.startsWith("aet_")).toBe(true)
    // Without a session nothing is answered.
    expect(yield* Effect.flip(agent.next(agent.claim()))).toMatchObject({ _tag: "Unauthorised", retry: true })
    // Another agent's nonce, and one of nobody.
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
