import { writeFileSync } from "node:fs"
import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { selfSignedCertificate } from "../../fixtures/provider/Certificate.ts"
import { bufferingProxy, connectProxy } from "../../support/Proxies.ts"
import { agentWorld } from "../support/AgentWorld.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { keptAgent } from "./Journeys.ts"

/** No server listens at this address, so requests arrive only through the proxy. */
const destination = "localhost:9"

const said = ["Next", "Start", "Renew", "Report", "Checkpoint", "Result", "GET snapshot", "PUT build"]

const behindProxies: WorldCase = {
  name: "an agent behind a CONNECT proxy, whose server is behind a reverse proxy that ends TLS and buffers whole messages",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const line = yield* world.line
    const { key, pem } = yield* Effect.promise(() => selfSignedCertificate(new Date()))
    const authority = `${options.folder}/authority.pem`
    writeFileSync(authority, pem)
    const front = yield* bufferingProxy(line.url, { cert: pem, key })
    const proxy = yield* connectProxy(front.port ?? 0)
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: authority }
    const agent = yield* keptAgent(yield* world.agent("one", { line, server: `https://${destination}`, env }))
    const { capsuleId, planRunId } = yield* world.installed("one", "built")
    const plan = yield* world.over(planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    yield* world.hold("one-b")
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held("one-b")
    // While the server is down, the reverse proxy responds with an error, and the agent retries.
    line.cut(true)
    yield* world.until(applyId, ({ agentUnreachableSince }) => agentUnreachableSince !== undefined)
    line.cut(false)
    yield* world.until(applyId, ({ agentUnreachableSince }) => agentUnreachableSince === undefined)
    yield* world.letGo("one-b")
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.code} ${apply.error?.message}`)
    // A cancellation reaches the tool.
    const other = yield* world.installed("two")
    yield* world.over(other.planRunId)
    yield* world.hold("two-b")
    const stoppedId = yield* world.approvedApply(other.planRunId)
    yield* world.held("two-b")
    yield* world.client.runs.cancel({ params: { runId: stoppedId }, payload: {} })
    const stopped = yield* world.over(stoppedId)
    yield* holds(stopped.status === "cancelled", `${stopped.status} ${stopped.error?.code}`)
    const { run } = yield* world.client.capsules.driftCheck({ params: { capsuleId }, payload: {} })
    const drift = yield* world.over(run.id)
    yield* holds(drift.status === "succeeded", `${drift.status} ${drift.error?.message}`)
    yield* agent.owesNothing
    yield* agent.end
    const missed = said.filter((message) => !line.said.includes(message))
    yield* holds(missed.length === 0, `Never said: ${missed.join(", ")}`)
    yield* holds(
      proxy.tunnels.length > 0 && proxy.tunnels.every((to) => to === destination),
      `Tunnels to ${proxy.tunnels.join(", ")}`
    )
    yield* verdict(world)
  })
}

export const proxyCases: ReadonlyArray<WorldCase> = [behindProxies]
