import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { SyncIntent } from "../../../schema/records/Source.ts"
import type { SyncSpec } from "../../inputs/git/LaneFetch.ts"
import { RunRow, SpecJson } from "../../ledger/run/RunRow.ts"
import { removableBy } from "../../ledger/run/UnreadSource.ts"
import type { Lane } from "../../ledger/source/SourceLanes.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import type { SourceId } from "../../../schema/records/Ids.ts"

/** A requested sync. */
export interface SyncRequest {
  readonly context: CommandContext
  readonly intent: SyncIntent
  readonly expectedCommit?: string | undefined
  readonly lane?: Lane | undefined
  readonly trigger: "user" | "webhook" | "schedule" | "service"
  /** If true, removes the Source if its first sync fails. */
  readonly removeUnread?: boolean
}

/** Returns the requested lane, or the Source's own lane. */
export const laneOf = (row: SourceRow, lane: Lane | undefined): Lane =>
  lane ?? { ref: row.default_ref, path: row.default_path }

/**
 * Returns true if the Source was created with `removeUnread` and no sync has read it. Each sync passes the flag on to the
 * next sync.
 */
const wasForReading = Effect.fn("Source.wasForReading")(function* (source: SourceRow) {
  if (source.last_synced_at !== null) return false
  const sql = yield* SqlClient.SqlClient
  const [last] = yield* Effect.orDie(RunRow.some(
    sql,
    "type",
    "source_id",
    "spec"
  )`SELECT type, source_id, spec FROM runs
    WHERE source_id = ${source.id} AND type = 'source_sync' AND coordinator_id IS NULL ORDER BY created_at DESC, id DESC LIMIT 1`)
  return last !== undefined && removableBy(last) !== undefined
})

/** Returns the parameters of a requested sync, including what happens to the Source if the sync fails. */
export const syncSpec = Effect.fnUntraced(function* (row: SourceRow, request: SyncRequest) {
  const removeUnread = request.removeUnread === true || (yield* wasForReading(row))
  return {
    url: row.url,
    ...laneOf(row, request.lane),
    intent: request.intent,
    ...(request.trigger === "user" && request.lane === undefined ? { everyLane: true } : {}),
    ...(request.expectedCommit === undefined ? {} : { expectedCommit: request.expectedCommit }),
    ...(row.auth_connection_id === null ? {} : { authConnectionId: row.auth_connection_id }),
    ...(removeUnread ? { removeUnread } : {})
  } satisfies SyncSpec
})

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
