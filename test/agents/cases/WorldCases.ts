import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { agentWorld } from "../support/AgentWorld.ts"
import { killed } from "../support/Processes.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { clockCases } from "./ClockCases.ts"
import { keptAgent } from "./Journeys.ts"
import { leaseCases } from "./LeaseCases.ts"
import { loadCases } from "./LoadCases.ts"
import { logCases } from "./LogCases.ts"
import { keyCases } from "./KeyCases.ts"
import { pathCases } from "./PathCases.ts"
import { proxyCases } from "./ProxyCases.ts"
import { sandboxCases } from "./SandboxCases.ts"
import { serverCases } from "./ServerCases.ts"
import { slowLineCases } from "./SlowLineCases.ts"
import { trustCases } from "./TrustCases.ts"

const serverKilled: WorldCase = {
  name: "no agent, then one; the server is killed while it applies, and comes back",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const { capsuleId, planRunId } = yield* world.installed("one")
    // If there is no agent, the Run waits and shows the reason.
    const waiting = yield* world.until(planRunId, ({ queue }) => queue?.reason === "no_agent")
    yield* holds(waiting.queue?.message === "No agent of the pool far is connected.", `${waiting.queue?.message}`)
    const agent = yield* keptAgent(yield* world.agent("one"))
    const plan = yield* world.over(planRunId)
    yield* holds(plan.pool === "far" && plan.planSummary?.add === 3, JSON.stringify(plan.planSummary))
    yield* world.hold("one-b")
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held("one-b")
    yield* killed(world.first)
    yield* world.serveAgain()
    yield* holds((yield* world.until(applyId, () => true)).status === "running", "The apply does not go on")
    yield* world.letGo("one-b")
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    const capsule = yield* world.capsule(capsuleId)
    yield* holds(capsule.status === "active" && capsule.currentStateGeneration === 1, JSON.stringify(capsule))
    yield* agent.owesNothing
    yield* agent.end
    yield* verdict(world)
  })
}

const agentKilled: WorldCase = {
  name: "the agent is killed while its tool applies, comes back, and the state that its tool left is imported",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const agent = yield* keptAgent(yield* world.agent("one"))
    const { capsuleId, planRunId } = yield* world.installed("one")
    yield* world.over(planRunId)
    yield* world.hold("one-b")
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held("one-b")
    agent.kill()
    yield* world.letGo("one-b")
    const apply = yield* world.over(applyId)
    yield* holds(apply.error?.code === "apply_interrupted", `${apply.status} ${apply.error?.code}`)
    const { runtimeSafety, status } = yield* world.capsule(capsuleId)
    yield* holds(status === "error" && runtimeSafety === "unknown", `${status} ${runtimeSafety}`)
    yield* agent.owesNothing
    yield* agent.end
    yield* verdict(world)
  })
}

/** The cases that the short form includes. */
export const shortWorldCases: ReadonlyArray<WorldCase> = [serverKilled, agentKilled, ...logCases]

/** Long cases come first, because they mostly wait. */
export const worldCases: ReadonlyArray<WorldCase> = [
  ...slowLineCases,
  ...leaseCases,
  ...serverCases,
  ...clockCases,
  ...loadCases,
  ...trustCases,
  ...keyCases,
  ...proxyCases,
  ...sandboxCases,
  ...pathCases,
  ...shortWorldCases
]
