import { Clock, Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { mountRefusal, smallDisk } from "../../support/SmallDisk.ts"
import { agentWorld, type AgentWorld } from "../support/AgentWorld.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { eventually, keptAgent, type KeptAgent } from "./Journeys.ts"

/** On its own small disk; mounting one needs root. */
const diskFull: WorldCase = {
  name: "the agent's disk is full while its tool works, and has room again",
  run: Effect.fnUntraced(function* (options) {
    yield* holds(mountRefusal === undefined, `${mountRefusal}`)
    const world = yield* agentWorld(options)
    const disk = yield* smallDisk(`${options.folder}/disk`, 64)
    const given = { folder: `${options.folder}/disk/agent`, env: { SVC_RUN_FREE_DISK: "1MiB" } }
    const agent = yield* keptAgent(yield* world.agent("one", given))
    const { planRunId } = yield* world.installed("one")
    const plan = yield* world.over(planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    yield* world.hold("one-b")
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held("one-b")
    yield* disk.fill
    const asked = agent.line.said.length
    yield* world.letGo("one-b")
    // A poll was already in progress, so its answer is declined.
    const other = yield* world.installed("two")
    yield* eventually(() => agent.line.said.slice(asked).includes("Decline"))
    yield* holds(agent.line.said.slice(asked).includes("Renew"), "It does not renew its lease with a full disk")
    yield* disk.free
    const apply = yield* world.over(applyId)
    // Either its state was written in time, or the tool printed it and it was kept from there: nothing is lost.
    yield* holds(apply.status === "succeeded" || apply.status === "failed", apply.status)
    const planned = yield* world.over(other.planRunId)
    yield* holds(planned.status === "waiting_approval", `${planned.status} ${planned.error?.message}`)
    yield* agent.owesNothing
    yield* agent.end
    yield* verdict(world)
  })
}

const oneEach: WorldCase = {
  name: "two agents ask for the same Runs, and each Run goes to one of them",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const agents = yield* Effect.forEach(["one", "two"], (name) => Effect.flatMap(world.agent(name), keptAgent))
    const labels = Array.from({ length: 8 }, (_, index) => `both${index}`)
    const made = yield* Effect.forEach(labels, (label) => world.installed(label), { concurrency: 4 })
    const plans = yield* Effect.forEach(made, ({ planRunId }) => world.over(planRunId))
    yield* holds(
      plans.every(({ attempt, status }) => status === "waiting_approval" && attempt === 1),
      JSON.stringify(plans.map(({ attempt, error, status }) => [status, attempt, error]))
    )
    const accepted = agents.map(({ line }) => line.said.filter((message) => message === "Accept").length)
    yield* holds(
      accepted.reduce((sum, count) => sum + count, 0) === labels.length && accepted.every((count) => count > 0),
      `${labels.length} Runs were accepted ${accepted.join(" + ")} times`
    )
    yield* Effect.forEach(agents, (agent) => Effect.andThen(agent.owesNothing, agent.end))
    yield* verdict(world)
  })
}

const manyRuns = 200
const runsOfOther = 40

/** The order in which the agents took the Runs shows whether one Workspace had to wait for all of another's. */
const fair: WorldCase = {
  name: "4 agents, 200 Runs, fair between two Workspaces",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const { workspace: second } = yield* world.client.workspaces.create({
      payload: { handle: "second", displayName: "Second" }
    })
    yield* world.operator("pool", "assign", "far", "second")
    const install = (prefix: string, count: number, workspaceId = world.workspace.id) =>
      Effect.forEach(
        Array.from({ length: count }, (_, index) => `${prefix}${index}`),
        (label) => world.installed(label, "plain", workspaceId),
        { concurrency: 8 }
      )
    // The first Workspace has queued all of its Runs before the other requests anything.
    const first = yield* install("a", manyRuns - runsOfOther)
    const others = yield* install("b", runsOfOther, second.id)
    const names = ["one", "two", "three", "four"]
    const agents = yield* Effect.forEach(names, (name) => Effect.flatMap(world.agent(name), keptAgent))
    const all = yield* Effect.forEach([...first, ...others], ({ planRunId }) => world.over(planRunId))
    const failed = all.filter(({ attempt, status }) => status !== "waiting_approval" || attempt !== 1)
    yield* holds(failed.length === 0, JSON.stringify(failed.map(({ error, status }) => [status, error])))
    const order = all
      .toSorted((a, b) => Date.parse(a.startedAt ?? "") - Date.parse(b.startedAt ?? ""))
      .map(({ workspaceId }) => workspaceId)
    const last = order.lastIndexOf(second.id)
    // If they take turns, the smaller share is done after about as many Runs of the larger one.
    yield* holds(
      last < runsOfOther * 3,
      `The last of ${runsOfOther} Runs of the second Workspace began as number ${last}`
    )
    yield* Effect.forEach(agents, (agent) => Effect.andThen(agent.owesNothing, agent.end))
    yield* verdict(world)
  })
}

const megabyte = 1_000_000

/** The time from the request to the end of the Run, and how long its tool applied. */
const applied = Effect.fnUntraced(function* (
  world: AgentWorld,
  planRunId: Effect.Success<ReturnType<AgentWorld["installed"]>>["planRunId"]
) {
  const plan = yield* world.over(planRunId)
  yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
  return yield* world.approvedApply(planRunId)
})

const toolMillis = Effect.fnUntraced(function* (world: AgentWorld, runId: Effect.Success<ReturnType<typeof applied>>) {
  const events = yield* world.eventsOf(runId)
  const phases = events.filter(({ kind }) => kind === "run.phase")
  const at = phases.findIndex(({ data }) => "phase" in data && data.phase === "apply")
  const [begun, next] = [phases[at], phases[at + 1]]
  if (begun === undefined || next === undefined) return Number.NaN
  return Date.parse(next.at) - Date.parse(begun.at)
})

const noSlower = 1.25

/** The tool writes its whole state after each object, so the large one takes as long as everything else together. */
const slowLine = (name: string, module: "wide" | "half-wide", rate: number): WorldCase => ({
  name: `${name}: the tool is not slowed, and a cancel arrives`,
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const agent = yield* keptAgent(yield* world.agent("one"))
    const measured = Effect.fnUntraced(function* (label: string, limit: number | undefined) {
      const { planRunId } = yield* world.installed(label, module)
      const applyId = yield* applied(world, planRunId)
      agent.line.slow(limit)
      const apply = yield* world.over(applyId)
      agent.line.slow(undefined)
      yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
      return yield* toolMillis(world, applyId)
    })
    const fast = yield* measured("fast", undefined)
    const slow = yield* measured("slow", rate)
    yield* Effect.logInfo(`The tool applied for ${fast} ms, and over a slow line for ${slow} ms.`)
    yield* holds(slow <= fast * noSlower, `The tool took ${slow} ms over a slow line, and ${fast} ms over a fast one`)
    const millis = yield* cancelled(world, agent, module, rate)
    yield* Effect.logInfo(`A cancel took ${millis} ms.`)
    yield* holds(millis < 2000, `A cancel took ${millis} ms`)
    yield* agent.owesNothing
    yield* agent.end
    yield* verdict(world)
  })
})

/**
 * The time from the request until the agent receives it, and passes it to its tool at once, while states fill the
 * connection.
 */
const cancelled = Effect.fnUntraced(function* (
  world: AgentWorld,
  agent: KeptAgent,
  module: "wide" | "half-wide",
  rate: number
) {
  const { planRunId } = yield* world.installed("stopped", module)
  const applyId = yield* applied(world, planRunId)
  agent.line.slow(rate)
  yield* eventually(() => agent.line.said.lastIndexOf("PUT state") > agent.line.said.lastIndexOf("Start"))
  const heard = agent.line.heard('"cancel":true')
  const asked = yield* Clock.currentTimeMillis
  yield* world.client.runs.cancel({ params: { runId: applyId }, payload: {} })
  yield* world.over(applyId)
  agent.line.slow(undefined)
  return (heard() ?? Number.NaN) - asked
})

export const loadCases: ReadonlyArray<WorldCase> = [
  oneEach,
  diskFull,
  slowLine("a 50 MB state of 200 resources over 1 MB/s", "wide", megabyte),
  slowLine("a 10 MB state of 40 resources over 0.2 MB/s", "half-wide", megabyte / 5),
  fair
]
