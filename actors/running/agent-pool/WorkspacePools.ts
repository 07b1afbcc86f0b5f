import { Context, Effect, Layer, Schema } from "effect"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { Agent, WorkspacePool } from "../../../schema/records/AgentPool.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { ServerRelease } from "./AgentVersions.ts"
import { BusyAgentRow, PoolRow, ProvisionRow, runsOfAgent } from "./PoolRows.ts"
import { shownAgent } from "./Agents.ts"

const AssignedPool = rowShape({ ...PoolRow.columns, assigned_at: Timestamp, queued: Schema.Int })

const provided = (names: ReadonlyArray<string>) => (names.length === 0 ? {} : { provided: names })

/**
 * Pools and agents, as shown to Workspaces that may use them. They reveal nothing about other Workspaces, except that some
 * slots are in use. Revoked agents are not listed, but a Run that is still held by a revoked agent shows the agent's id.
 */
export class WorkspacePools extends Context.Service<
  WorkspacePools,
  {
    readonly pools: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<WorkspacePool>, ApiError>
    readonly agents: (
      workspaceId: WorkspaceId,
      pool: string | undefined,
      page: PageRequest
    ) => Effect.Effect<Page<Agent>, ApiError>
  }
>()("svc/actors/running/agent-pool/WorkspacePools") {
  static readonly layer = Layer.effect(
    WorkspacePools,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const cursors = yield* Cursors
      const presence = yield* AgentPresence
      const release = yield* ServerRelease

      const provisionsOf = (workspaceId: WorkspaceId) =>
        Effect.orDie(ProvisionRow.some(sql, "pool", "name")`SELECT pool, name FROM agent_pool_provisions
          WHERE workspace_id = ${workspaceId} ORDER BY pool, name`)

      const pools = Effect.fn("WorkspacePools.pools")(function* (workspaceId: WorkspaceId, page: PageRequest) {
        const binding = { route: "agentPools.list", subject: page.subject ?? "", filter: [workspaceId] }
        const [after = ""] = page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 1)
        const rows = yield* Effect.orDie(AssignedPool.rows(sql)`SELECT p.*, w.assigned_at,
            (SELECT COUNT(*) FROM runs r WHERE r.status = 'queued' AND r.workspace_id = w.workspace_id
              AND r.pool = p.name) AS queued
          FROM agent_pool_workspaces w JOIN agent_pools p ON p.name = w.pool AND p.archived_at IS NULL
          WHERE w.workspace_id = ${workspaceId} AND p.name > ${after} ORDER BY p.name LIMIT ${page.limit + 1}`)
        const shown = rows.slice(0, page.limit)
        const agents = yield* Effect.orDie(BusyAgentRow.rows(sql)`SELECT a.*, ${sql.literal(runsOfAgent)} FROM agents a
          WHERE a.revoked_at IS NULL AND ${sql.in(
            "a.pool",
            shown.map(({ name }) => name)
          )}`)
        const all = yield* Effect.forEach(agents, shownAgent(presence, release))
        const given = yield* provisionsOf(workspaceId)
        const items = shown.map((row): WorkspacePool => {
          const own = all.filter(({ pool }) => pool === row.name)
          const count = (status: Agent["status"]) => own.filter((agent) => agent.status === status).length
          const connected = own.filter(({ status }) => status === "connected")
          return {
            name: row.name,
            ...(row.isolation === null ? {} : { isolation: row.isolation }),
            leaseSeconds: row.lease_seconds,
            assignedAt: row.assigned_at,
            agents: { connected: count("connected"), draining: count("draining"), silent: count("silent") },
            places: connected.reduce((sum, { places }) => sum + places, 0),
            runs: connected.reduce((sum, { runs }) => sum + runs, 0),
            queued: row.queued,
            ...provided(given.filter(({ pool }) => pool === row.name).map(({ name }) => name))
          }
        })
        const last = shown.at(-1)
        return rows.length <= page.limit || last === undefined
          ? { items }
          : { items, nextCursor: yield* cursors.encode(binding, [last.name]) }
      })

      const agents = Effect.fn("WorkspacePools.agents")(function* (
        workspaceId: WorkspaceId,
        pool: string | undefined,
        page: PageRequest
      ) {
        const binding = { route: "agentPools.agents", subject: page.subject ?? "", filter: [workspaceId, pool] }
        const [inPool = "", name = "", id = ""] =
          page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 3)
        const rows = yield* Effect.orDie(BusyAgentRow.rows(sql)`SELECT a.*, ${sql.literal(runsOfAgent)} FROM agents a
          WHERE a.revoked_at IS NULL AND ${pool ?? ""} IN ('', a.pool)
            AND a.pool IN (SELECT pool FROM agent_pool_workspaces WHERE workspace_id = ${workspaceId})
            AND (a.pool, a.name, a.id) > (${inPool}, ${name}, ${id})
          ORDER BY a.pool, a.name, a.id LIMIT ${page.limit + 1}`)
        const shown = rows.slice(0, page.limit)
        const given = yield* provisionsOf(workspaceId)
        const all = yield* Effect.forEach(shown, shownAgent(presence, release))
        // Hides credentials that the agent provides only to other Workspaces.
        const items = all.map((agent) => ({
          ...agent,
          provided: agent.provided.filter((name) => given.some((one) => one.pool === agent.pool && one.name === name))
        }))
        const last = shown.at(-1)
        return rows.length <= page.limit || last === undefined
          ? { items }
          : { items, nextCursor: yield* cursors.encode(binding, [last.pool, last.name, last.id]) }
      })

      return WorkspacePools.of({ pools, agents })
    })
  )
}
