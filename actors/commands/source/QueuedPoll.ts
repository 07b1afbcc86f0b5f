import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SyncSpec } from "../../inputs/git/LaneFetch.ts"
import { RunRow, SpecJson } from "../../ledger/run/RunRow.ts"
import type { SourceId } from "../../../schema/records/Ids.ts"

/** Triggers that can share a queued sync: automatic ones, or those of people, which are part of the history. */
const sharing = { service: ["webhook", "schedule"], person: ["user"] } as const

/**
 * Finds a queued sync of this lane that a new request can share. It will read the repository after the request, so one is enough
 * even for a burst of deliveries. A running sync may already have read the repository, so it is not shared. The whole parameters
 * are compared, because a sync for another Connection is a different sync.
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
