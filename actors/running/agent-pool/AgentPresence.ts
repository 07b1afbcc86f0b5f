import { Context, Effect, Layer } from "effect"
import { monotonicNow } from "../../base/MonotonicNow.ts"
import type { AgentId } from "../../../schema/records/Ids.ts"

/** An agent that has been silent for this long no longer counts as connected. */
const connectedNanos = 45_000_000_000n
/** An agent that has been silent for this long may never come back: nothing waits for it if others can do the same work. */
const absentNanos = 3_600_000_000_000n

/**
 * The connected agents, by the monotonic clock. Kept in memory: a restarted server has no connected agents, and every agent
 * contacts it within one long poll.
 */
export class AgentPresence extends Context.Service<
  AgentPresence,
  {
    readonly heard: (agentId: AgentId) => Effect.Effect<void>
    /** The agent announced that it is leaving, or was revoked. */
    readonly left: (agentId: AgentId) => Effect.Effect<void>
    readonly isConnected: (agentId: AgentId) => Effect.Effect<boolean>
    /**
     * True if the agent has been silent for an hour. Never true for a server that started less than an hour ago, because agents
     * could not contact it while it was down.
     */
    readonly isSilent: (agentId: AgentId) => Effect.Effect<boolean>
    /** True if any agent has contacted the server since this process started. */
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
            // Agents without an entry are silent too.
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
