import { Context, DateTime, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"
import { writeNotice } from "../../base/notice/Notices.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { AgentRow } from "./PoolRows.ts"

/**
 * Time without contact after which notices report an agent as silent. It is long enough for a restart of the agent's machine
 * or of a proxy.
 */
const awayFor = Duration.minutes(3)
const awayNanos = seconds(Duration.toSeconds(awayFor))

const { away_reported_at, id, name, pool } = AgentRow.columns
const Watched = rowShape({ id, name, pool, away_reported_at, is_expected: Schema.Int })
type Watched = RowOf<typeof Watched.columns>

const Affected = rowShape({ workspace_id: Schema.NullOr(WorkspaceId), runs: Schema.Int })

/**
 * Notifies the Workspaces that may use a pool, and the server's endpoints, when an agent of the pool falls silent or
 * returns. Ignores agents that announced their exit.
 */
export class AgentNotices extends Context.Service<
  AgentNotices,
  {
    /** Reports changes since the last call. Runs every minute. */
    readonly report: Effect.Effect<void>
  }
>()("svc/actors/running/agent-pool/AgentNotices") {
  static readonly layer = Layer.effect(
    AgentNotices,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const presence = yield* AgentPresence
      const begun = yield* monotonicNow

      /**
       * Selects the server itself and the Workspaces that may use the agent's pool, each with the number of its Runs on the
       * agent.
       */
      const affected = (agent: Watched) => Affected.rows(sql)`SELECT NULL AS workspace_id, COUNT(*) AS runs
          FROM agent_runs WHERE agent_id = ${agent.id} AND ended_at IS NULL
        UNION ALL SELECT w.workspace_id, (SELECT COUNT(*) FROM agent_runs r JOIN runs u ON u.id = r.run_id
            WHERE r.agent_id = ${agent.id} AND r.ended_at IS NULL AND u.workspace_id = w.workspace_id)
          FROM agent_pool_workspaces w WHERE w.pool = ${agent.pool}`

      const tell = Effect.fnUntraced(function* (agent: Watched, isAway: boolean) {
        yield* sql`UPDATE agents SET ${AgentRow.changes(sql, { away_reported_at: isAway ? yield* now : null })}
          WHERE id = ${agent.id}`
        const named = { id: agent.id, name: agent.name, pool: agent.pool }
        for (const { runs, workspace_id } of yield* affected(agent)) {
          const about = {
            workspaceId: workspace_id,
            subject: { kind: "agent" as const, id: agent.id },
            path: workspace_id === null ? "" : "settings/agents",
            isOnlyForWorkspace: true
          }
          yield* isAway
            ? writeNotice(sql, "agent.unreachable", Effect.succeed({ ...about, data: { agent: named, runs } }))
            : writeNotice(sql, "agent.back", Effect.succeed({ ...about, data: { agent: named } }))
        }
      })

      const report = Effect.gen(function* () {
        // Waits after a startup, because agents could not contact the server while it was down.
        if ((yield* monotonicNow) - begun < awayNanos) return
        const at = yield* DateTime.now
        const silentSince = DateTime.formatIso(DateTime.subtractDuration(at, awayFor))
        const agents = yield* Watched.rows(sql)`SELECT a.id, a.name, a.pool, a.away_reported_at,
            EXISTS (SELECT 1 FROM agent_sessions s WHERE s.agent_id = a.id
              AND s.expires_at > ${DateTime.formatIso(at)}) AS is_expected
          FROM agents a WHERE a.revoked_at IS NULL
            AND (a.last_contact_at < ${silentSince} OR a.away_reported_at IS NOT NULL) ORDER BY a.id LIMIT 500`
        for (const agent of agents) {
          // Also checks the agent's presence, because the stored contact time may be older than the session.
          const isConnected = yield* presence.isConnected(agent.id)
          const isReported = agent.away_reported_at !== null
          if (isConnected === isReported && (isConnected || agent.is_expected === 1)) {
            yield* tell(agent, !isConnected).pipe(transaction(sql))
          }
        }
      }).pipe(Effect.orDie, Effect.withSpan("AgentNotices.report"))

      return AgentNotices.of({ report })
    })
  )
}
