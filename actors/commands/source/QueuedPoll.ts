import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SyncSpec } from "../../inputs/git/LaneFetch.ts"
import { RunRow, SpecJson } from "../../ledger/run/RunRow.ts"
import type { SourceId } from "../../../schema/records/Ids.ts"

/** The callers that share a queued check: the service's own looks, and those of people, which are part of the history. */
const sharing = { service: ["webhook", "schedule"], person: ["user"] } as const

/**
 * The queued sync Run for this lane. It will read the repository after whatever is requesting another sync, so one is enough,
 * however many deliveries arrive in a burst; a sync that is already running may have read the repository earlier, and is not
 * considered. The whole specification is compared: a sync queued for another Connection is a different sync.
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
