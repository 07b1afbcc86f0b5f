import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { retention } from "../../schema/records/Retention.ts"
import { Audit } from "../audit/Audit.ts"
import { serviceContext } from "../Command.ts"
import { rowShape } from "../database/Table.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"
import { RetentionSettings } from "../run/RetentionSettings.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { AgentRow } from "./PoolRows.ts"

/** So many are forgotten in one transaction. */
const mostAtOnce = 200

const Gone = AgentRow.only("id", "pool", "name")
const Token = rowShape({ id: Schema.String })

/** Of the alias `a`: it was enrolled with a token for several agents, or labelled so. */
const isEphemeral = `(json_extract(a.facts, '$.labels.ephemeral') = 'true'
  OR EXISTS (SELECT 1 FROM agent_enrolment_tokens t WHERE t.id = a.enrolment_token_id
    AND (t.uses_left > 0 OR EXISTS (SELECT 1 FROM agents o WHERE o.enrolment_token_id = t.id AND o.id <> a.id))))`

/** Forgets agents that come and go, such as those of an autoscaling group, once they are gone and owe nothing. */
export class GoneAgents extends Context.Service<
  GoneAgents,
  {
    /** Revokes some of those that were not heard of for the period, and removes what is left of earlier ones. */
    readonly forget: Effect.Effect<void>
  }
>()("svc/actors/pool/GoneAgents") {
  static readonly layer = Layer.effect(
    GoneAgents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const presence = yield* AgentPresence
      const { agentFiles = retention.agentFile.after, goneAgents = retention.goneAgent.after } =
        yield* RetentionSettings
      const ephemeral = sql.literal(isEphemeral)

      const before = (period: Duration.Duration) =>
        Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis - Duration.toMillis(period)).toISOString())

      /** It may come back with the state of an apply, for as long as that is of use. */
      const owes = Effect.map(
        before(agentFiles),
        (since) => sql`EXISTS (SELECT 1 FROM agent_runs r WHERE r.agent_id = a.id AND (r.ended_at IS NULL
          OR (r.kind = 'apply' AND r.accepted_at IS NOT NULL AND r.result IS NULL AND r.ended_at > ${since}
            AND NOT EXISTS (SELECT 1 FROM agent_evidence e WHERE e.run_id = r.run_id AND e.agent_id = a.id))))`
      )

      const revoke = Effect.gen(function* () {
        const since = yield* before(goneAgents)
        const gone = yield* Gone.rows(sql)`SELECT a.id, a.pool, a.name FROM agents a
          WHERE a.revoked_at IS NULL AND a.last_contact_at < ${since} AND ${ephemeral} AND NOT ${yield* owes}
          ORDER BY a.last_contact_at LIMIT ${mostAtOnce}`
        for (const { id, name, pool } of gone) {
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

      /** While another agent of the token is there, its rows say that the token was for several. */
      const remove = Effect.gen(function* () {
        const since = yield* before(goneAgents)
        const removed = yield* Gone.rows(sql)`SELECT a.id, a.pool, a.name FROM agents a
          WHERE a.revoked_at IS NOT NULL AND a.last_contact_at < ${since} AND ${ephemeral}
            AND NOT EXISTS (SELECT 1 FROM agents o WHERE o.enrolment_token_id = a.enrolment_token_id AND o.revoked_at IS NULL)
            AND NOT EXISTS (SELECT 1 FROM agent_runs r WHERE r.agent_id = a.id)
            AND NOT EXISTS (SELECT 1 FROM agent_evidence e WHERE e.agent_id = a.id)
            AND NOT EXISTS (SELECT 1 FROM restore_review v WHERE v.record_id = a.id AND v.decision IS NULL) LIMIT ${mostAtOnce}`
        const ids = removed.map(({ id }) => id)
        yield* sql`DELETE FROM agent_sessions WHERE ${sql.in("agent_id", ids)}`
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

      return GoneAgents.of({
        forget: Effect.gen(function* () {
          if (!(yield* isAnybodyThere)) return
          yield* revoke
          yield* remove
        }).pipe(Effect.orDie, Effect.withSpan("GoneAgents.forget"))
      })
    })
  )
}
