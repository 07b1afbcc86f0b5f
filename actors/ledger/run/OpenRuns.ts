import type { SqlClient, Statement } from "effect/sql"
import type { CapsuleId } from "../../../schema/records/Ids.ts"

/**
 * Selects, in a `WHERE`, the queued and running Runs in a Capsule's line: those of which only one may run at a time. Uses the
 * indexes of the queue, because a Capsule may have thousands of finished Runs over the years. `capsule` is an id or a column.
 */
export const openInLine = (sql: SqlClient.SqlClient, capsule: CapsuleId | Statement.Fragment) =>
  sql`id IN (SELECT id FROM runs WHERE capsule_line = ${capsule} AND status = 'queued'
    UNION ALL SELECT id FROM runs WHERE capsule_line = ${capsule} AND status = 'running')`
