import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { holdProcesses, nameOf, processesBelow } from "../../support/ProcessEnd.ts"
import { agentWorld, type AgentWorld } from "../support/AgentWorld.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { keptAgent, type KeptAgent } from "./Journeys.ts"

/**
 * The shortest lease that a pool may have. The agent asks the tool to stop after 60 s and kills it after 96 s. The server settles
 * the Run after 181 s.
 */
const leaseSeconds = 120

const toolsOf = (agent: KeptAgent) => processesBelow(agent.pid()).filter((pid) => nameOf(pid) === "terraform")

/** Starts an apply that waits at its second note. */
const applying = Effect.fnUntraced(function* (world: AgentWorld, agent: KeptAgent, label = "one") {
  const { capsuleId, planRunId } = yield* world.installed(label)
  yield* world.over(planRunId)
  yield* world.hold(`${label}-b`)
  const applyId = yield* world.approvedApply(planRunId)
  yield* world.held(`${label}-b`)
  return { capsuleId, applyId, tools: holdProcesses(toolsOf(agent)) }
})

/**
 * The server settled the Run without its agent, so the Run's objects are uncertain, and svc stores the agent's results only
 * as evidence.
 */
const lost = Effect.fnUntraced(function* (
  world: AgentWorld,
  agent: KeptAgent,
  { applyId, capsuleId }: Effect.Success<ReturnType<typeof applying>>
) {
  const apply = yield* world.over(applyId)
  yield* holds(apply.error?.code === "agent_lost", `${apply.status} ${apply.error?.code}: ${apply.error?.message}`)
  const capsule = yield* world.capsule(capsuleId)
  yield* holds(
    capsule.status === "error" && capsule.runtimeSafety === "unknown",
    `The Capsule is ${capsule.status}, ${capsule.runtimeSafety}`
  )
  return Effect.gen(function* () {
    yield* agent.owesNothing
    yield* holds((yield* world.leftOvers(capsuleId)) > 0, "What the agent handed in is not listed at the Capsule")
    yield* agent.end
    yield* verdict(world)
  })
})

const paused: WorldCase = {
  name: "the agent is stopped for longer than its lease while its tool works",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leaseSeconds })
    const agent = yield* keptAgent(yield* world.agent("one"))
    const begun = yield* applying(world, agent)
    agent.signal("SIGSTOP")
    // The guard is a separate process, so it survives when the agent is killed.
    yield* world.until(begun.applyId, ({ agentUnreachableSince }) => agentUnreachableSince !== undefined)
    yield* Effect.sleep("75 seconds")
    yield* holds(begun.tools.ended(0), "The tool outlives the time at which the guard has to kill it")
    yield* holds(
      (yield* world.run(begun.applyId)).status === "running",
      "The Run was settled before its lease was over"
    )
    const settled = yield* lost(world, agent, begun)
    yield* world.letGo("one-b")
    agent.signal("SIGCONT")
    yield* settled
  })
}

const cutForLong: WorldCase = {
  name: "the line is cut for longer than the lease while the tool works",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leaseSeconds })
    const agent = yield* keptAgent(yield* world.agent("one"))
    const begun = yield* applying(world, agent)
    agent.line.cut(true)
    const settled = yield* lost(world, agent, begun)
    yield* holds(begun.tools.ended(0), "The tool works on after its Run was settled")
    yield* world.letGo("one-b")
    agent.line.cut(false)
    yield* settled
  })
}

const cutForShort: WorldCase = {
  name: "the line is cut while the tool works, and comes back before the lease is over",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leaseSeconds })
    const agent = yield* keptAgent(yield* world.agent("one"))
    const { applyId } = yield* applying(world, agent)
    agent.line.cut(true)
    yield* world.until(applyId, ({ agentUnreachableSince }) => agentUnreachableSince !== undefined)
    yield* world.letGo("one-b")
    agent.line.cut(false)
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    yield* holds(apply.agentUnreachableSince === undefined, "The mark of an unreachable agent stays")
    yield* agent.owesNothing
    yield* agent.end
    yield* verdict(world)
  })
}

const answersLost: WorldCase = {
  name: "the line swallows only the answers while the tool works, and passes them again before the lease is over",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leaseSeconds })
    const agent = yield* keptAgent(yield* world.agent("one"))
    const { applyId } = yield* applying(world, agent)
    agent.line.mute(true)
    yield* world.until(applyId, ({ agent: shown }) => shown?.unansweredSince !== undefined)
    const shown = yield* world.run(applyId)
    yield* holds(shown.agentUnreachableSince === undefined, "The agent is heard, and is shown as unreachable")
    agent.line.mute(false)
    yield* world.until(applyId, (run) => run.agent?.unansweredSince === undefined)
    yield* world.letGo("one-b")
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    yield* agent.owesNothing
    yield* agent.end
    yield* verdict(world)
  })
}

const oldFence: WorldCase = {
  name: "an agent whose plan was given to another comes back with its old fence",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leaseSeconds })
    const one = yield* keptAgent(yield* world.agent("one"))
    yield* world.plans.hold("one-a")
    const { planRunId } = yield* world.installed("one")
    yield* world.plans.held("one-a")
    one.line.cut(true)
    const two = yield* keptAgent(yield* world.agent("two"))
    yield* world.until(planRunId, ({ attempt }) => attempt > 1)
    yield* world.plans.letGo("one-a")
    const planned = yield* world.over(planRunId)
    yield* holds(planned.status === "waiting_approval", `${planned.status} ${planned.error?.message}`)
    one.line.cut(false)
    yield* one.owesNothing
    const again = yield* world.run(planRunId)
    yield* holds(again.planDigest === planned.planDigest, "The agent with the old fence changed the plan")
    const apply = yield* world.over(yield* world.approvedApply(planRunId))
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    yield* Effect.all([one.owesNothing, two.owesNothing])
    yield* Effect.all([one.end, two.end])
    yield* verdict(world)
  })
}

export const leaseCases: ReadonlyArray<WorldCase> = [paused, cutForLong, cutForShort, answersLost, oldFence]
