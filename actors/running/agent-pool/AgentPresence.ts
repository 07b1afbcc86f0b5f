import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { monotonicNow } from "../../base/MonotonicNow.ts"
import { SharedDatabase } from "../../base/node/Nodes.ts"
import { AgentRow } from "./PoolRows.ts"
import type { AgentId } from "../../../schema/records/Ids.ts"

/** Time without contact, in nanoseconds, after which an agent is considered disconnected. */
const connectedNanos = 45_000_000_000n
/**
 * Time without contact, in nanoseconds, after which svc assumes that an agent may never return. svc does not wait for a
 * silent agent if another agent can do the same work.
 */
const absentNanos = 3_600_000_000_000n

/** Minimum time in milliseconds between two writes of an agent's last contact. */
const writtenEveryMillis = 30_000

/**
 * Tracks which agents are connected, using the monotonic clock. This information is only in memory: after a server restart,
 * an agent is considered connected as soon as it contacts the server, which takes at most one long poll. Servers that share
 * a database also read the contacts that other servers recorded.
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
    /** True if any agent has contacted this process since it started. */
    readonly wasAnyHeard: Effect.Effect<boolean>
  }
>()("svc/actors/running/agent-pool/AgentPresence") {
  static readonly layer = Layer.effect(
    AgentPresence,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const isShared = yield* SharedDatabase
      const begun = yield* monotonicNow
      const connectedAt = new Map<AgentId, bigint>()
      const heardAt = new Map<AgentId, bigint>()
      let wasAnyHeard = false
      /** Returns true if the agent has contacted any server within this time. Compares wall-clock times. */
      const isKnownElsewhere = Effect.fnUntraced(function* (agentId: AgentId, nanos: bigint) {
        if (!isShared) return false
        const [agent] = yield* AgentRow.some(sql, "last_contact_at")`SELECT last_contact_at FROM agents
          WHERE id = ${agentId} AND revoked_at IS NULL
            AND EXISTS (SELECT 1 FROM agent_sessions s WHERE s.agent_id = agents.id)`
        if (agent === undefined) return false
        const millis = (yield* Clock.currentTimeMillis) - Date.parse(agent.last_contact_at)
        return millis < Number(nanos / 1_000_000n) + writtenEveryMillis
      }, Effect.orDie)

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
            // Removes entries of silent agents to save memory. An agent without an entry is considered silent.
            for (const [id, last] of heardAt) if (at - last >= absentNanos) heardAt.delete(id)
          }),
        isConnected: Effect.fnUntraced(function* (agentId) {
          const last = connectedAt.get(agentId)
          if (last !== undefined && (yield* monotonicNow) - last < connectedNanos) return true
          return yield* isKnownElsewhere(agentId, connectedNanos)
        }),
        isSilent: Effect.fnUntraced(function* (agentId) {
          if ((yield* monotonicNow) - (heardAt.get(agentId) ?? begun) < absentNanos) return false
          return !(yield* isKnownElsewhere(agentId, absentNanos))
        })
      })
    })
  )
}
