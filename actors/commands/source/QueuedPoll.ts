import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SyncSpec } from "../../inputs/git/LaneFetch.ts"
import { RunRow, SpecJson } from "../../ledger/run/RunRow.ts"
import type { SourceId } from "../../../schema/records/Ids.ts"

/**
 * Triggers whose requests can share a queued sync. Requests by automatic triggers share syncs with each other. Requests by
 * people share syncs with each other and are recorded in the history.
 */
const sharing = { service: ["webhook", "schedule"], person: ["user"] } as const

/**
 * Finds a queued sync of this lane that a new request can share. A queued sync reads the repository after the request, so one
 * sync is enough even for a burst of deliveries. A running sync is not shared, because it may already have read the repository.
 * Compares all parameters, because, for example, a sync with another Connection is a different sync.
 */
export const queuedLook = Effect.fn("Source.queuedLook")(function* (
  sourceId: SourceId,
  spec: SyncSpec,
  by: keyof typeof sharing
) {
  const sql = yield* SqlClient.SqlClient
  const [queued] = yield* Effect.orDie(RunRow.some(sql, "id")`SELECT id FROM runs WHERE source_id = ${sourceId}
    AND type = 'source_sync' AND status = 'queued' AND ${sql.in("trigger_kind", sharing[by])}
    AND spec = ${SpecJson.write({ ...spec })} ORDER BY queued_at, id LIMIT 1`)
  return queued?.id
})
