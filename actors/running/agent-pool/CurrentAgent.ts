import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { AgentRow } from "./PoolRows.ts"

/** Returns the agent of a session, or `undefined` if a revocation or new keys have ended the session. */
export const currentAgent = (sql: SqlClient.SqlClient, agent: Pick<AgentRow, "id" | "sign_key">) =>
  Effect.map(
    Effect.orDie(
      AgentRow.some(sql, "drain_requested_at")`SELECT drain_requested_at FROM agents
        WHERE id = ${agent.id} AND sign_key = ${agent.sign_key} AND revoked_at IS NULL`
    ),
    ([present]) => present
  )
