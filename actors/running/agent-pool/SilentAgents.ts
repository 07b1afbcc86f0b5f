import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { retention, RetentionPolicy } from "../../../schema/records/Retention.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"
import { mayOweEvidence, owesEvidence } from "../../ledger/run/PendingAgentState.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { AgentRow } from "./PoolRows.ts"

/** Maximum number of agents removed in one transaction. */
const mostAtOnce = 200

/**
 * Interval between searches for silent agents. The first search takes place one interval after startup; by then, every live
 * agent has contacted the new process.
 */
const lookEvery = seconds(3600)

const Gone = AgentRow.only("id", "pool", "name")
const Token = rowShape({ id: Schema.String })

/**
 * SQL condition on `agents a` that selects ephemeral agents: agents that enrolled with a token for several agents, or that
 * are labelled as ephemeral.
 */
const isEphemeral = `(json_extract(a.facts, '$.labels.ephemeral') = 'true'
  OR EXISTS (SELECT 1 FROM agent_enrolment_tokens t WHERE t.id = a.enrolment_token_id
    AND (t.uses_left > 0 OR EXISTS (SELECT 1 FROM agents o WHERE o.enrolment_token_id = t.id AND o.id <> a.id))))`

/**
 * Removes ephemeral agents, such as those of an autoscaling group, after a long silence if svc no longer needs anything from
 * them.
 */
export class SilentAgents extends Context.Service<
  SilentAgents,
  {
    /**
     * Revokes agents that have been silent for the configured period, and removes the rows of agents revoked earlier. Runs
     * hourly, starting an hour after startup, because agents could not contact the server while it was down.
     */
    readonly forget: Effect.Effect<void>
  }
>()("svc/actors/running/agent-pool/SilentAgents") {
  static readonly layer = Layer.effect(
    SilentAgents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const presence = yield* AgentPresence
      const { agentFiles = retention.agentFile.after, goneAgents = retention.goneAgent.after } = yield* RetentionPolicy
      const ephemeral = sql.literal(isEphemeral)

      const before = (period: Duration.Duration) =>
        Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis - Duration.toMillis(period)).toISOString())

      /**
       * The agent may still return with the state of an apply. If the apply may never have started, svc waits for a shorter time.
       */
      const owes = Effect.map(
        before(agentFiles),
        (since) => sql`EXISTS (SELECT 1 FROM agent_runs r WHERE r.agent_id = a.id AND (r.ended_at IS NULL
          OR ${sql.literal(owesEvidence("r."))} OR (${sql.literal(mayOweEvidence("r."))} AND r.ended_at > ${since})))`
      )

      const revoke = Effect.gen(function* () {
        const since = yield* before(goneAgents)
        const gone = yield* Gone.rows(sql)`SELECT a.id, a.pool, a.name FROM agents a
          WHERE a.revoked_at IS NULL AND a.last_contact_at < ${since} AND ${ephemeral} AND NOT ${yield* owes}
          ORDER BY a.last_contact_at LIMIT ${mostAtOnce}`
        for (const { id, name, pool } of gone) {
          // Also checks the agent's presence, because the stored contact time may be older than the session.
          if (yield* presence.isConnected(id)) continue
          yield* sql`UPDATE agents SET revoked_at = ${yield* now} WHERE id = ${id}`
          yield* sql`DELETE FROM agent_sessions WHERE agent_id = ${id}`
          yield* audit.append({
            workspaceId: null,
            actor: serviceContext.actor,
            action: "agent.forget",
            target: { kind: "agent", id },
            data: { pool, name }
          })
          yield* sql.afterCommit(presence.left(id))
        }
      }).pipe(transaction(sql))

      /**
       * Removes revoked agents that nothing refers to, whether or not they are ephemeral. Keeps them while another agent
       * that enrolled with the same token exists, because their rows prove that the token was meant for several agents.
       */
      const remove = Effect.gen(function* () {
        const since = yield* before(goneAgents)
        const removed = yield* Gone.rows(sql)`SELECT a.id, a.pool, a.name FROM agents a
          WHERE a.revoked_at IS NOT NULL AND a.last_contact_at < ${since}
            AND NOT EXISTS (SELECT 1 FROM agents o WHERE o.enrolment_token_id = a.enrolment_token_id AND o.revoked_at IS NULL)
            AND a.id NOT IN (SELECT agent_id FROM agent_runs)
            AND a.id NOT IN (SELECT agent_id FROM agent_evidence)
            AND a.id NOT IN (SELECT record_id FROM restore_review WHERE decision IS NULL) LIMIT ${mostAtOnce}`
        const ids = removed.map(({ id }) => id)
        yield* sql`DELETE FROM agent_sessions WHERE ${sql.in("agent_id", ids)}`
        yield* sql`DELETE FROM agent_provided_marks WHERE ${sql.in("agent_id", ids)}`
        yield* sql`DELETE FROM agents WHERE ${sql.in("id", ids)}`
        const spent = yield* Token.rows(sql)`SELECT id FROM agent_enrolment_tokens t WHERE t.expires_at < ${since}
          AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.enrolment_token_id = t.id) LIMIT ${mostAtOnce}`
        const tokens = spent.map(({ id }) => id)
        yield* sql`DELETE FROM agent_enrolment_tokens WHERE ${sql.in("id", tokens)}`
      }).pipe(transaction(sql))

      const isAnybodyThere = Effect.map(
        Effect.orDie(sql`SELECT 1 AS one FROM agent_enrolment_tokens LIMIT 1`),
        (rows) => rows.length > 0
      )

      let lookedAt = yield* monotonicNow

      return SilentAgents.of({
        forget: Effect.gen(function* () {
          const instant = yield* monotonicNow
          if (instant - lookedAt < lookEvery) return
          lookedAt = instant
          if (!(yield* isAnybodyThere)) return
          yield* revoke
          yield* remove
        }).pipe(Effect.orDie, Effect.withSpan("SilentAgents.forget"))
      })
    })
  )
}
