import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { mountRefusal, smallDisk } from "../../support/SmallDisk.ts"
import { agentWorld } from "../support/AgentWorld.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { eventually, keptAgent } from "./Journeys.ts"

/** Uses a separate small disk, which only root can mount. */
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
    // An agent renews its lease even if its disk is full.
    yield* eventually(() => agent.line.said.slice(asked).includes("Renew"))
    yield* world.letGo("one-b")
    // A poll that was already in progress returns an offer, which the agent declines.
    const other = yield* world.installed("two")
    yield* eventually(() => agent.line.said.slice(asked).includes("Decline"))
    yield* disk.free
    const apply = yield* world.over(applyId)
    // The state survives: either the tool wrote the state in time, or it printed the state and svc saved the output.
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

/**
 * The order in which agents accepted the Runs shows whether one Workspace had to wait for all of the other Workspace's Runs.
 */
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
    // The first Workspace has queued all its Runs before the second Workspace requests any.
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
    // If the Workspaces take turns, then by the time the Workspace with fewer Runs is done, about the same number of the
    // other Workspace's Runs have started.
    yield* holds(
      last < runsOfOther * 3,
      `The last of ${runsOfOther} Runs of the second Workspace began as number ${last}`
    )
    yield* Effect.forEach(agents, (agent) => Effect.andThen(agent.owesNothing, agent.end))
    yield* verdict(world)
  })
}

export const loadCases: ReadonlyArray<WorldCase> = [oneEach, diskFull, fair]
