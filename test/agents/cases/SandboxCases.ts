import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { encodeCrashEnvironment } from "../../crash/CrashEnvironment.ts"
import { holds } from "../../crash/CrashClient.ts"
import { holdProcesses, nameOf, processesBelow } from "../../support/ProcessEnd.ts"
import { agentWorld } from "../support/AgentWorld.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { keptAgent } from "./Journeys.ts"

const program = [process.execPath, fileURLToPath(new URL("../support/SandboxedAgent.ts", import.meta.url))]

const inBubblewrap: WorldCase = {
  name: "in bubblewrap: plan, apply and destroy with a line that is cut, and an agent that is killed while its tool applies",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, isolation: "required" })
    const env = {
      SVC_TEST_CRASH: encodeCrashEnvironment({ readable: [world.interpreter], writable: [world.notesDir] })
    }
    const agent = yield* keptAgent(yield* world.agent("one", { program, env }))
    const { capsuleId, planRunId } = yield* world.installed("one", "built")
    const plan = yield* world.over(planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    yield* holds(plan.isolation === "bubblewrap", `The plan was isolated by ${plan.isolation}`)

    yield* world.hold("one-b")
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held("one-b")
    agent.line.cut(true)
    yield* world.until(applyId, ({ agentUnreachableSince }) => agentUnreachableSince !== undefined)
    yield* world.letGo("one-b")
    agent.line.cut(false)
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.code} ${apply.error?.message}`)
    yield* holds(apply.isolation === "bubblewrap", `The apply was isolated by ${apply.isolation}`)

    const { run } = yield* world.client.capsules.destroyPlan({
      params: { capsuleId },
      headers: { "idempotency-key": "destroy" },
      payload: {}
    })
    yield* world.over(run.id)
    const destroy = yield* world.over(yield* world.approvedApply(run.id))
    yield* holds(destroy.status === "succeeded", `${destroy.status} ${destroy.error?.code} ${destroy.error?.message}`)
    yield* holds((yield* world.capsule(capsuleId)).status === "destroyed", "The Capsule is not destroyed")

    // The tool was killed with its agent. The next agent imports the remaining files.
    const second = yield* world.installed("two")
    yield* world.over(second.planRunId)
    yield* world.hold("two-b")
    const killedId = yield* world.approvedApply(second.planRunId)
    yield* world.held("two-b")
    const tools = holdProcesses(processesBelow(agent.pid()).filter((pid) => nameOf(pid) === "terraform"))
    agent.kill()
    yield* holds(tools.ended(20_000), "The tool outlives its agent")
    tools.release()
    yield* world.letGo("two-b")
    const interrupted = yield* world.over(killedId)
    yield* holds(
      interrupted.error?.code === "apply_interrupted",
      `${interrupted.status} ${interrupted.error?.code} ${interrupted.error?.message}`
    )
    const { currentStateGeneration, runtimeSafety, status } = yield* world.capsule(second.capsuleId)
    yield* holds(
      status === "error" && runtimeSafety === "unknown" && currentStateGeneration === 1,
      `${status} ${runtimeSafety} ${currentStateGeneration}`
    )
    yield* agent.owesNothing
    yield* agent.end
    yield* verdict(world)
  })
}

export const sandboxCases: ReadonlyArray<WorldCase> = [inBubblewrap]
