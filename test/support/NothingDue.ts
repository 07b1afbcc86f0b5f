import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Eventually.ts"

/** An SQL query that returns one row for each mark of due work. */
export const marks = `SELECT 'capsule ' || id AS mark FROM capsules WHERE follow_snapshot_id IS NOT NULL
  UNION ALL SELECT 'source ' || id FROM sources WHERE unread_due IS NOT NULL
  UNION ALL SELECT 'run ' || run_id FROM run_follow_due
  UNION ALL SELECT 'install ' || id FROM install_plans WHERE phase = 'syncing_source' AND sync_run_id IS NULL
  UNION ALL SELECT 'revision ' || id FROM revision_plans WHERE phase = 'syncing_source' AND sync_run_id IS NULL
  UNION ALL SELECT 'interface ' || id FROM interface_intents WHERE status = 'pending'`

/**
 * Waits until no work is due. Each step commits its work together with the change to the mark, so all work is done once no
 * mark is left.
 */
export const nothingDue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* eventually(sql`${sql.literal(marks)}`, ({ length }) => length === 0)
})
