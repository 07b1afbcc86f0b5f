import type { SqlClient } from "effect/sql"

/** Filters for a list of events. */
export interface AuditFilter {
  readonly action?: string | undefined
  readonly capsuleId?: string | undefined
  /** The subject who acted. */
  readonly actor?: string | undefined
  readonly runId?: string | undefined
  /** The start of the period, in ISO 8601, inclusive. */
  readonly since?: string | undefined
  /** The end of the period, in ISO 8601, exclusive. Pass it as the next `since` to continue without gaps or repetitions. */
  readonly until?: string | undefined
}

/** Returns the conditions of a filter for a `WHERE` clause. */
export const matching = (sql: SqlClient.SqlClient, filter: AuditFilter) => [
  ...(filter.action === undefined ? [] : [sql`action = ${filter.action}`]),
  ...(filter.capsuleId === undefined ? [] : [sql`capsule_id = ${filter.capsuleId}`]),
  ...(filter.actor === undefined ? [] : [sql`actor_subject = ${filter.actor}`]),
  ...(filter.runId === undefined ? [] : [sql`run_id = ${filter.runId}`]),
  ...(filter.since === undefined ? [] : [sql`created_at >= ${filter.since}`]),
  ...(filter.until === undefined ? [] : [sql`created_at < ${filter.until}`])
]
