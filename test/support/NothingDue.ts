import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Eventually.ts"

/** The marks of due work, one row for each, as SQL. */
export const marks = `SELECT 'capsule ' || id AS mark FROM capsules WHERE follow_snapshot_id IS NOT NULL
  UNION ALL SELECT 'source ' || id FROM sources WHERE unread_due IS NOT NULL
  UNION ALL SELECT 'run ' || run_id FROM run_follow_due
  UNION ALL SELECT 'install ' || id FROM install_plans WHERE phase = 'syncing_source' AND sync_run_id IS NULL
  UNION ALL SELECT 'revision ' || id FROM revision_plans WHERE phase = 'syncing_source' AND sync_run_id IS NULL
  UNION ALL SELECT 'interface ' || id FROM interface_intents WHERE status = 'pending'`

/** Waits until no work is due. A step and its mark are one transaction, so the work is done by then. */
export const nothingDue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* eventually(sql`${sql.literal(marks)}`, ({ length }) => length === 0)
})
