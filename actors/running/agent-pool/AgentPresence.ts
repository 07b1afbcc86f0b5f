import { Context, Effect, Layer } from "effect"
import { monotonicNow } from "../../base/MonotonicNow.ts"
import type { AgentId } from "../../../schema/records/Ids.ts"

/** An agent that has not contacted the server for this long is not connected. */
const connectedNanos = 45_000_000_000n
/** After this much silence an agent may never return. Nothing waits for it if another agent can do the same work. */
const absentNanos = 3_600_000_000_000n

/**
 * Tracks which agents are connected, using the monotonic clock. Kept in memory: after a server restart no agent is connected
 * until it contacts the server, which each agent does within one long poll.
 */
export class AgentPresence extends Context.Service<
  AgentPresence,
  {
    readonly heard: (agentId: AgentId) => Effect.Effect<void>
    /** Called when an agent announces that it is leaving, or has been revoked. */
    readonly left: (agentId: AgentId) => Effect.Effect<void>
    readonly isConnected: (agentId: AgentId) => Effect.Effect<boolean>
    /**
     * Returns true if the agent has been silent for an hour. Always false during the server's first hour, because agents could
     * not contact it while it was down.
     */
    readonly isSilent: (agentId: AgentId) => Effect.Effect<boolean>
    /** True if any agent has contacted this process. */
    readonly wasAnyHeard: Effect.Effect<boolean>
  }
>()("svc/actors/running/agent-pool/AgentPresence") {
  static readonly layer = Layer.effect(
    AgentPresence,
    Effect.gen(function* () {
      const begun = yield* monotonicNow
      const connectedAt = new Map<AgentId, bigint>()
      const heardAt = new Map<AgentId, bigint>()
      let wasAnyHeard = false
      return AgentPresence.of({
        heard: (agentId) =>
          Effect.map(monotonicNow, (at) => {
            wasAnyHeard = true
            connectedAt.set(agentId, at)
            heardAt.set(agentId, at)
          }),
        wasAnyHeard: Effect.sync(() => wasAnyHeard),
        left: (agentId) =>
          Effect.map(monotonicNow, (at) => {
            connectedAt.delete(agentId)
            // Removes entries of silent agents. An agent without an entry counts as silent, so the result is the same.
            for (const [id, last] of heardAt) if (at - last >= absentNanos) heardAt.delete(id)
          }),
        isConnected: (agentId) =>
          Effect.map(monotonicNow, (at) => {
            const last = connectedAt.get(agentId)
            return last !== undefined && at - last < connectedNanos
          }),
        isSilent: (agentId) => Effect.map(monotonicNow, (at) => at - (heardAt.get(agentId) ?? begun) >= absentNanos)
      })
    })
  )
}
