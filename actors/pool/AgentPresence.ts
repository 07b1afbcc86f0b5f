import { Context, Effect, Layer } from "effect"
import { monotonicNow } from "../MonotonicNow.ts"
import type { AgentId } from "../../schema/records/Ids.ts"

/** An agent that has been silent for this long is not counted as connected. */
const connectedNanos = 45_000_000_000n
/** One that has been silent for this long may not come back: nothing waits for it if others can do the same. */
const absentNanos = 3_600_000_000_000n

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
    /**
     * Whether it has been silent for an hour. A server that started less than an hour ago says so of none: while it was down
     * it could hear nobody.
     */
    readonly isSilent: (agentId: AgentId) => Effect.Effect<boolean>
    /** Whether any agent was heard from since this process began. */
    readonly wasAnyHeard: Effect.Effect<boolean>
  }
>()("svc/actors/pool/AgentPresence") {
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
            // They are silent without an entry, too.
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
