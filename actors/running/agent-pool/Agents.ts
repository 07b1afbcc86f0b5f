import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { Agent } from "../../../schema/records/AgentPool.ts"
import { AgentId } from "../../../schema/records/Ids.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { idOrNull, now } from "../../base/Identity.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { ServerRelease, versionProblem } from "./AgentVersions.ts"
import { type AgentRow, BusyAgentRow, FactsJson, runsOfAgent } from "./PoolRows.ts"

const statusOf = (
  { drain_requested_at, revoked_at }: Pick<AgentRow, "drain_requested_at" | "revoked_at">,
  isConnected: boolean,
  drains: boolean
): Agent["status"] => {
  if (revoked_at !== null) return "revoked"
  if (!isConnected) return "silent"
  return drains || drain_requested_at !== null ? "draining" : "connected"
}

/**
 * Returns the public projection of an agent, with its connection status. An agent that must not receive new Runs because of
 * its release appears as draining.
 */
export const shownAgent = (presence: AgentPresence["Service"], release: string | undefined) =>
  Effect.fnUntraced(function* ({ runs, ...agent }: BusyAgentRow) {
    const facts = FactsJson.read(agent.facts)
    const { disk, isolation, labels, places, platform, provided = [], tools, version } = facts
    const draining = facts.draining || versionProblem(release, facts) !== undefined
    return {
      id: agent.id,
      pool: agent.pool,
      name: agent.name,
      status: statusOf(agent, yield* presence.isConnected(agent.id), draining),
      version,
      platform,
      tools,
      isolation,
      labels,
      places,
      runs,
      disk,
      provided,
      enrolledAt: agent.enrolled_at,
      lastContactAt: agent.last_contact_at
    } satisfies Agent
  })

/** Lists, drains and revokes agents. For enrolment and sessions see `AgentSessions`. */
export class Agents extends Context.Service<
  Agents,
  {
    readonly list: (pool?: string) => Effect.Effect<ReadonlyArray<Agent>>
    /** Revokes the agent and its sessions immediately. The agent keeps its current Runs until their leases expire. */
    readonly revoke: (id: string) => Effect.Effect<void, ApiError>
    readonly drain: (id: string, drains: boolean) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/running/agent-pool/Agents") {
  static readonly layer = Layer.effect(
    Agents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const presence = yield* AgentPresence
      const release = yield* ServerRelease

      const list = Effect.fn("Agents.list")(function* (pool?: string) {
        const rows = yield* Effect.orDie(BusyAgentRow.rows(sql)`SELECT a.*, ${sql.literal(runsOfAgent)} FROM agents a
          WHERE ${pool ?? ""} IN ('', a.pool) ORDER BY a.pool, a.enrolled_at, a.id`)
        return yield* Effect.forEach(rows, shownAgent(presence, release))
      })

      const revoke = Effect.fn("Agents.revoke")(function* (text: string) {
        const id = idOrNull(AgentId, text)
        const revoked = yield* sql`UPDATE agents SET revoked_at = ${yield* now}
          WHERE id = ${id} AND revoked_at IS NULL RETURNING id`
        if (id === null || revoked.length === 0) return yield* notFound("Agent")
        yield* sql`DELETE FROM agent_sessions WHERE agent_id = ${id}`
        yield* sql.afterCommit(presence.left(id))
      }, transaction(sql))

      const drain = Effect.fn("Agents.drain")(function* (text: string, drains: boolean) {
        const found = yield* Effect.orDie(sql`UPDATE agents SET drain_requested_at = ${drains ? yield* now : null}
          WHERE id = ${idOrNull(AgentId, text)} AND revoked_at IS NULL RETURNING id`)
        if (found.length === 0) return yield* notFound("Agent")
      })

      return Agents.of({ list, revoke, drain })
    })
  )
}
