import { expect } from "bun:test"
import { Clock, Context, Duration, Effect, FileSystem, Layer, Redacted } from "effect"
import { Nodes } from "../../../../actors/base/node/Nodes.ts"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { AgentSettlement } from "../../../../actors/running/agent/AgentSettlement.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import type { DatabaseServices } from "../../../../src/composition/Storage.ts"
import { masterKeyName } from "../../../../src/database/DataFolder.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { OperatorConfigs, type OperatorConfigsShape } from "../../../../actors/ledger/configuration/OperatorConfigs.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { Pools } from "../../../../actors/running/agent-pool/Pools.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { PoolName } from "../../../../schema/agent/PoolName.ts"
import type { JobResult } from "../../../../runner/agent/JobResult.ts"
import type { PlanSecrets } from "../../../../runner/execution/RunJob.ts"
import type { JobOffer } from "../../../../schema/agent/AgentJob.ts"
import type { InstallPlanId } from "../../../../schema/records/Ids.ts"
import { AuthorityChanges } from "../../../../src/streams/AuthorityChanges.ts"
import { coordinatedRun, freshKey, requestOf, settled } from "../../../support/Journey.ts"
import { planeAt, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../../actors/support/PureRunner.ts"
import { agentClient, AgentServer, digestOf, type TestAgent, testAgent } from "./TestAgent.ts"
import { InstallPlanCommands } from "../../../../schema/commands/InstallPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

type Offer = typeof JobOffer.Type

const policy: OperatorConfigsShape = {
  profiles: { far: { pool: PoolName.make("far") } },
  baseConfigs: [],
  loadedAt: "2026-01-01T00:00:00.000Z"
}
const inForce: { -readonly [Field in keyof OperatorConfigsShape]: OperatorConfigsShape[Field] } = policy

const farPlaneOf = (shared: boolean) =>
  AgentServer.layer.pipe(
    Layer.provide(AuthorityChanges.layer),
    Layer.provideMerge(testPlane({ runner: pureRunner(pureModules()), shared })),
    Layer.provide(Layer.succeed(OperatorConfigs, inForce))
  )

/** A control plane that sends its Runs to the agents of a pool. */
export const farPlane = farPlaneOf(false)

/** Like `farPlane`, but with a database shared with other servers. */
export const sharedFarPlane = farPlaneOf(true)

/** Starts another server on the same database and with the same keys, but with its own folder. */
export const anotherServer = Effect.gen(function* () {
  const services = yield* Effect.context<DatabaseServices>()
  const files = yield* FileSystem.FileSystem
  const { dataDir: first, url } = yield* TestPlane
  const dataDir = `${yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })}/data`
  yield* files.makeDirectory(dataDir, { mode: 0o700 })
  yield* files.copyFile(`${first}/${masterKeyName}`, `${dataDir}/${masterKeyName}`)
  const mirror = yield* providerMirror
  const plane = planeAt(
    { dataDir, mirror, origins: [new URL(url).origin] },
    { runner: pureRunner(pureModules()), shared: true, database: Layer.succeedContext(services) }
  )
  const built = yield* Layer.build(
    Layer.fresh(AgentServer.layer.pipe(Layer.provide(AuthorityChanges.layer), Layer.provideMerge(plane))).pipe(
      Layer.provide(Layer.succeed(OperatorConfigs, inForce)),
      Layer.provide(platform)
    )
  )
  const client = yield* agentClient(Context.get(built, AgentServer).origin)
  return {
    client,
    monitor: Context.get(built, AgentMonitor),
    nodes: Context.get(built, Nodes),
    runs: Context.get(built, Runs),
    settlement: Context.get(built, AgentSettlement)
  }
})

/** Runs the effect with the process's monotonic clock set forward by this many seconds. */
export const after = <A, E, R>(seconds: number, effect: Effect.Effect<A, E, R>) =>
  Effect.clockWith((clock) => {
    const nanos = BigInt(seconds) * 1_000_000_000n
    const later: Clock.Clock = Object.assign(Object.create(clock), {
      monotonicTimeNanos: Effect.map(clock.monotonicTimeNanos, (at) => at + nanos)
    })
    return Effect.provideService(effect, Clock.Clock, later)
  })

export const text = (words: string) => new TextEncoder().encode(words)

/** Returns the state that an apply in a test creates, in the format that the tool writes. */
export const stateFile = (serial: number) =>
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

export const evidence = {
  tool: { name: "terraform" as const, version: "1.11.4" },
  sandboxLevel: "bubblewrap" as const,
  envNames: [],
  diagnostics: []
}

/** Returns an agent's report about an apply. The report may differ from the state that the apply wrote. */
export const appliedResult = (
  serial: number,
  outputs: Extract<JobResult, { readonly kind: "apply"; readonly status: "ended" }>["outcome"]["outputs"] = []
) => ({
  kind: "apply" as const,
  status: "ended" as const,
  outcome: {
    ...evidence,
    exit: "succeeded" as const,
    lineage: "lineage",
    serial,
    resourceCount: 1,
    outputs,
    changedAnything: true,
    possiblyCreated: [],
    sandboxKilled: false
  }
})

/** The credentials that a test's plans are bound to. */
const planBinding: PlanSecrets["provided"] = [{ name: "cloud", digest: "digest-of-the-plan" }]

export const world = Effect.gen(function* () {
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

/** Starts an install, whose plan waits for an agent. */
export const begun = Effect.fnUntraced(function* (branch: string, more: Readonly<Record<string, string>> = {}) {
  const { commit, context, workspaceId } = yield* TestPlane
  yield* commit(branch, { ...pureModule, ...more })
  const created = yield* (yield* InstallPlans).create(context, workspaceId, yield* requestOf(branch), freshKey())
  return created.value.id
})

export const reviewable = Effect.fnUntraced(function* (id: InstallPlanId) {
  const { context } = yield* TestPlane
  const plans = yield* InstallPlanCommands
  for (;;) {
    const plan = yield* plans.Reconcile(id, { context })
    if (plan.nextAction !== "reconcile") return plan
    const run = yield* coordinatedRun(plan.id)
    if (run !== undefined) yield* settled(run)
  }
})

export const offerTo = Effect.fnUntraced(function* (agent: TestAgent) {
  const name = agent.claim()
  for (;;) {
    const { offer } = yield* agent.next(name)
    if (offer !== undefined) return { name, offer }
  }
})

/** Executes a plan as the agent under test would. */
export const planOn = Effect.fnUntraced(function* (agent: TestAgent, offer: Offer, provided = planBinding) {
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
  // Sends each message twice, as an agent does after a lost response.
  for (const _ of [1, 2]) {
    expect(yield* agent.as(agent.client.Report({ runId: offer.runId, fence: offer.fence, batch }))).toEqual({
      acknowledged: 1
    })
  }
  const planned = text(`plan of ${offer.runId}`)
  const planFile = yield* agent.put(offer, "plan_file", planned)
  yield* agent.finish(
    // Passes only the claim, because the complete offer also contains the plan's initial state.
    { runId: offer.runId, fence: offer.fence },
    {
      kind: "plan",
      status: "ended",
      outcome: {
        ...evidence,
        tool: job.tool,
        planFile: Redacted.make(new Uint8Array(0)),
        secrets: { inputs: [], credentials: [], marked: [], provided },
        planDigest: digestOf(planned),
        summary: { add: 1, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 },
        resourceChanges: [],
        outputChanges: [],
        resourceDrift: [],
        // Outputs that match the states that the test's agents hand in.
        plannedOutputs: [{ name: "value", sensitive: false, unknown: false }],
        hasChanges: true,
        applyable: true
      }
    },
    { lastBatch: 1, planFile }
  )
  return planned
})

export const approvedApply = Effect.fnUntraced(function* (id: InstallPlanId) {
  const { context } = yield* TestPlane
  const install = yield* reviewable(id)
  if (install.planRunId === undefined || install.capsuleId === undefined) {
    return yield* Effect.die(new Error(JSON.stringify(install.diagnostics)))
  }
  const plan = yield* settled(install.planRunId)
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  yield* runCommands.Approve(plan.id, {
    context,
    ...(plan.planDigest === undefined ? {} : { planDigest: plan.planDigest })
  })
  return { capsuleId: install.capsuleId, apply: (yield* runs.apply(context, plan.id, undefined)).value }
})

/** Creates a Capsule whose apply has been offered to an agent. `planned` is the plan file. */
export const applyOfferedTo = Effect.fnUntraced(function* (agent: TestAgent, branch: string) {
  const id = yield* begun(branch)
  const { offer } = yield* offerTo(agent)
  const planned = yield* planOn(agent, offer)
  const { apply, capsuleId } = yield* approvedApply(id)
  const { offer: applyOffer } = yield* offerTo(agent)
  expect(applyOffer).toMatchObject({ runId: apply.id, kind: "apply", leaseSeconds: 2700 })
  return { capsuleId, offer: applyOffer, planned, claim: { runId: applyOffer.runId, fence: applyOffer.fence } }
})

/** Creates a Capsule whose apply an agent has started. */
export const applyingOn = Effect.fnUntraced(function* (agent: TestAgent, branch: string) {
  const { capsuleId, claim, offer, planned } = yield* applyOfferedTo(agent, branch)
  // The plan file is not available before the agent accepts the offer.
  expect((yield* agent.get(offer, "plan_file", offer.planFile ?? "")).status).toBe(410)
  // The job requires the credentials with which the plan was created.
  expect((yield* agent.applyJob(offer)).secrets.provided).toEqual(planBinding)
  yield* agent.as(agent.client.Accept(offer))
  expect(yield* agent.fetched(offer, "plan_file", offer.planFile ?? "")).toEqual(planned)
  yield* agent.as(agent.client.Start(offer))
  return { capsuleId, claim }
})

const held = ({ fence, runId }: { readonly runId: Offer["runId"]; readonly fence: number }) => ({
  runId,
  fence,
  spoolBytes: 0
})

export const renewal = (agent: TestAgent, claim: { readonly runId: Offer["runId"]; readonly fence: number }) =>
  agent.as(agent.client.Renew({ held: [held(claim)], disk: agent.facts.disk, draining: false }))
