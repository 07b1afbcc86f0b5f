import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, notFound } from "../../schema/errors/ApiError.ts"
import type { Agent } from "../../schema/records/AgentPool.ts"
import { AgentId, type WorkspaceId } from "../../schema/records/Ids.ts"
import { rowShape } from "../database/Table.ts"
import { transaction } from "../database/Transaction.ts"
import { idOrNull, now } from "../Identity.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { AgentRow, FactsJson } from "./PoolRows.ts"

const ListedAgent = rowShape({ ...AgentRow.columns, runs: Schema.Int })

/** The agents as rows: listed, told to drain, revoked. Enrolment and sessions are `agent`'s. */
export class Agents extends Context.Service<
  Agents,
  {
    readonly list: (pool?: string) => Effect.Effect<ReadonlyArray<Agent>>
    /** The agents of the pools that a Workspace may use. */
    readonly ofWorkspace: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Agent>>
    /** Ends its sessions at once. The Runs that it executes stay its own until their leases end. */
    readonly revoke: (id: string) => Effect.Effect<void, ApiError>
    readonly drain: (id: string, drains: boolean) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/pool/Agents") {
  static readonly layer = Layer.effect(
    Agents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const presence = yield* AgentPresence

      const statusOf = Effect.fnUntraced(function* ({ drain_requested_at, id, revoked_at }: AgentRow, drains: boolean) {
        if (revoked_at !== null) return "revoked"
        if (!(yield* presence.isConnected(id))) return "silent"
        return drains || drain_requested_at !== null ? "draining" : "connected"
      })

      const shown = ({ runs, ...agent }: AgentRow & { readonly runs: number }) =>
        Effect.gen(function* () {
          const facts = FactsJson.read(agent.facts)
          return {
            id: agent.id,
            pool: agent.pool,
            name: agent.name,
            status: yield* statusOf(agent, facts.draining),
            version: facts.version,
            platform: facts.platform,
            tools: facts.tools,
            isolation: facts.isolation,
            labels: facts.labels,
            places: facts.places,
            runs,
            diskLow: facts.disk.low,
            provided: facts.provided ?? [],
            enrolledAt: agent.enrolled_at,
            lastContactAt: agent.last_contact_at
          } satisfies Agent
        })

      const running = sql.literal("(SELECT COUNT(*) FROM runs r WHERE r.status = 'running' AND r.owner = a.id) AS runs")

      const list = Effect.fn("Agents.list")(function* (pool?: string) {
        const rows = yield* Effect.orDie(ListedAgent.rows(sql)`SELECT a.*, ${running} FROM agents a
          WHERE ${pool ?? ""} IN ('', a.pool) ORDER BY a.pool, a.enrolled_at, a.id`)
        return yield* Effect.forEach(rows, shown)
      })

      const ofWorkspace = Effect.fn("Agents.ofWorkspace")(function* (workspaceId: WorkspaceId) {
        const rows = yield* Effect.orDie(ListedAgent.rows(sql)`SELECT a.*, ${running} FROM agents a
          WHERE a.revoked_at IS NULL AND a.pool IN (SELECT pool FROM agent_pool_workspaces WHERE workspace_id = ${workspaceId})
          ORDER BY a.pool, a.enrolled_at, a.id`)
        return yield* Effect.forEach(rows, shown)
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

      return Agents.of({ list, ofWorkspace, revoke, drain })
    })
  )
}
