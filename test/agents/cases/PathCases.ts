import { fileURLToPath } from "node:url"
import { Effect, Stream } from "effect"
import { followLogs } from "../../../src/client/index.ts"
import { holds } from "../../crash/CrashClient.ts"
import { encodeCrashEnvironment } from "../../crash/CrashEnvironment.ts"
import { type AgentOptions, agentWorld } from "../support/AgentWorld.ts"
import type { WorldCase } from "./AgentCase.ts"
import { keptAgent } from "./Journeys.ts"

const stablePath = /^\/var\/tmp\/svc-[0-9a-f]{24}\/source\/paths/

const samePaths = (where: string, level: "process" | "landlock", given: AgentOptions): WorldCase => ({
  name: `a module with absolute paths${where}: equal in plan, apply and the next plan, and no folder of the agent is shown`,
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, isolation: level === "process" ? "off" : "required" })
    const agent = yield* keptAgent(yield* world.agent("one", given))
    const { capsuleId, planRunId } = yield* world.installed("one", "paths")
    const plan = yield* world.over(planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    yield* holds(plan.isolation === level, `The plan was isolated by ${plan.isolation}`)
    const applyId = yield* world.approvedApply(planRunId)
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.code} ${apply.error?.message}`)

    const { outputs } = yield* world.client.capsules.outputs({ params: { capsuleId } })
    const applied = outputs.map(({ name, value }) => `${name} ${String(value)}`).toSorted()
    const isStable = outputs.every(({ value }) => stablePath.test(String(value)))
    yield* holds(outputs.length === 3 && isStable, `The Outputs are ${applied.join(", ")}`)
    const planned = (plan.outputChanges ?? []).map(({ after, name }) => `${name} ${String(after)}`).toSorted()
    yield* holds(planned.join() === applied.join(), `The plan had ${planned.join(", ")}`)

    const { run } = yield* world.client.capsules.plan({
      params: { capsuleId },
      headers: { "idempotency-key": "again" },
      payload: {}
    })
    const again = yield* world.over(run.id)
    const { resourceChanges = [] } = again
    yield* holds(again.error === undefined && resourceChanges.length === 0, JSON.stringify(again))

    const logs = yield* Stream.runCollect(followLogs({ baseUrl: world.first.url, token: world.token }, applyId, 0))
    const log = logs.map(({ text }) => text).join("\n")
    yield* holds(log.includes("really in"), "The log lacks what the module printed")
    const events = [yield* world.eventsOf(planRunId), yield* world.eventsOf(applyId), yield* world.eventsOf(run.id)]
    const shown = JSON.stringify([plan, apply, again, outputs, events, log])
    const folders = [agent.folder, world.dataDir].filter((folder) => shown.includes(folder))
    yield* holds(folders.length === 0, `These folders are shown: ${folders.join(", ")}`)
    yield* agent.owesNothing
    yield* agent.end
  })
})

const program = [process.execPath, fileURLToPath(new URL("../support/SandboxedAgent.ts", import.meta.url))]

/** Only root can start an agent as another user. `required` needs a stronger sandbox than landlock. */
const asNobody: AgentOptions = {
  program,
  env: { SVC_RUNNER_ISOLATION: "auto", SVC_TEST_CRASH: encodeCrashEnvironment({ levels: ["landlock"] }) },
  ...(process.getuid?.() === 0 ? { user: 65_534 } : {})
}

export const pathCases: ReadonlyArray<WorldCase> = [
  samePaths("", "process", {}),
  samePaths(" in landlock, of another user", "landlock", asNobody)
]
