import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import { rowShape } from "../../base/database/Table.ts"
import { HeldRecord, type RestoredRecords, ReviewItem } from "../../base/RestoredRecords.ts"
import type { AgentId } from "../../../schema/records/Ids.ts"
import { AgentRow } from "./PoolRows.ts"

/**
 * Reviews agents after a restore. Until the operator confirms them, they are revoked and receive nothing. Unlike agents that an
 * operator revoked, they are asked to wait and keep their data.
 */
export const restoredAgents = Effect.map(
  SqlClient.SqlClient,
  (sql): RestoredRecords => ({
    kind: "agent",
    hold: Effect.gen(function* () {
      const held = yield* rowShape(HeldRecord.fields).rows(sql)`SELECT id, 'enrolled' AS "previousStatus" FROM agents
        WHERE revoked_at IS NULL ORDER BY id`
      yield* sql`UPDATE agents SET revoked_at = ${yield* now} WHERE revoked_at IS NULL`
      yield* sql`DELETE FROM agent_sessions`
      return held
    }).pipe(Effect.orDie),
    pending: Effect.orDie(rowShape(ReviewItem.fields).rows(
      sql
    )`SELECT a.id, 'agent' AS kind, NULL AS "workspaceId", NULL AS workspace,
        a.name || ' of the pool ' || a.pool AS description, r.previous_status AS "previousStatus",
        a.last_contact_at AS "changedAt"
      FROM restore_review r JOIN agents a ON a.id = r.record_id AND a.revoked_at IS NOT NULL
      WHERE r.decision IS NULL ORDER BY a.pool, a.name, a.id`),
    // Restarts the measurement of the agent's silence, because the agent was silent only as long as the server rejected its
    // messages.
    confirm: Effect.fnUntraced(function* (id) {
      yield* sql`UPDATE agents SET ${AgentRow.changes(sql, { revoked_at: null, last_contact_at: yield* now })} WHERE id = ${id}`
    }, Effect.orDie),
    // Does nothing, because the agent is already revoked.
    remove: () => Effect.void
  })
)

/** Returns true if the agent is waiting to be reviewed by the operator. */
export const isAgentHeld = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: AgentId) {
  const found = yield* sql`SELECT 1 AS one FROM restore_review WHERE record_id = ${id} AND decision IS NULL`
  return found.length > 0
}, Effect.orDie)

/**
 * Revokes every enrolment token, in the caller's transaction. Otherwise tokens that were used up after the backup would be valid
 * again.
 */
export const endEnrolmentTokens = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ended = yield* sql`UPDATE agent_enrolment_tokens SET revoked_at = ${yield* now}
    WHERE revoked_at IS NULL AND uses_left > 0 RETURNING id`
  return ended.length
}).pipe(Effect.orDie, Effect.withSpan("endEnrolmentTokens"))
