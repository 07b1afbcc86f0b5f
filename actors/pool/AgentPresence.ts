import { Context, Effect, Layer } from "effect"
import { monotonicNow } from "../MonotonicNow.ts"
import type { AgentId } from "../../schema/records/Ids.ts"

/** An agent that has been silent for this long is not counted as connected. */
const connectedNanos = 45_000_000_000n

/**
 * Which agents are connected, by the monotonic clock. Kept in memory: a server that starts knows of none yet, and hears from
 * every agent within a long poll.
 */
export class AgentPresence extends Context.Service<
  AgentPresence,
  {
    readonly heard: (agentId: AgentId) => Effect.Effect<void>
    /** It announced that it is leaving, or was revoked. */
    readonly left: (agentId: AgentId) => Effect.Effect<void>
    readonly isConnected: (agentId: AgentId) => Effect.Effect<boolean>
    /** Whether any agent was heard from since this process began. */
    readonly wasAnyHeard: Effect.Effect<boolean>
  }
>()("svc/actors/pool/AgentPresence") {
  static readonly layer = Layer.sync(AgentPresence, () => {
    const heardAt = new Map<AgentId, bigint>()
    let wasAnyHeard = false
    return AgentPresence.of({
      heard: (agentId) =>
        Effect.map(monotonicNow, (at) => {
          wasAnyHeard = true
          heardAt.set(agentId, at)
        }),
      wasAnyHeard: Effect.sync(() => wasAnyHeard),
      left: (agentId) => Effect.sync(() => void heardAt.delete(agentId)),
      isConnected: (agentId) =>
        Effect.map(monotonicNow, (at) => {
          const last = heardAt.get(agentId)
          return last !== undefined && at - last < connectedNanos
        })
    })
  })
}
