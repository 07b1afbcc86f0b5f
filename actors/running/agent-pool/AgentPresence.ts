import { Context, Effect, Layer } from "effect"
import { monotonicNow } from "../../base/MonotonicNow.ts"
import type { AgentId } from "../../../schema/records/Ids.ts"

/** Silence, in nanoseconds, after which an agent counts as not connected. */
const connectedNanos = 45_000_000_000n
/** Silence, in nanoseconds, after which an agent may never return. Nothing waits for it if another agent can do the same work. */
const absentNanos = 3_600_000_000_000n

/**
 * Tracks which agents are connected, using the monotonic clock. Kept in memory: after a server restart, an agent counts as
 * connected once it contacts the server, which takes at most one long poll.
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
            // Removes entries of silent agents to save memory. An agent without an entry counts as silent too.
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
