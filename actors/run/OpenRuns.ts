import type { SqlClient } from "effect/sql"
import type { CapsuleId } from "../../schema/records/Ids.ts"

/**
 * Selects, in a `WHERE`, the queued and running Runs that only one of a Capsule's Runs may be at a time. Uses the indexes of the
 * queue: over the years, a Capsule may have thousands of finished Runs.
 */
export const openInLine = (sql: SqlClient.SqlClient, capsuleId: CapsuleId) =>
  sql`id IN (SELECT id FROM runs WHERE capsule_line = ${capsuleId} AND status = 'queued'
    UNION ALL SELECT id FROM runs WHERE capsule_line = ${capsuleId} AND status = 'running')`
