import { Clock, Context, Duration, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SourceLane } from "../../../schema/records/Source.ts"
import type { CommitDescription } from "../../../schema/records/Commit.ts"
import { SourceId, SourceSnapshotId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { lanesInUse } from "../../../schema/tables/SourceTables.ts"
import { reportBroken, reportHealed } from "./LaneNotices.ts"
import { now } from "../../base/Identity.ts"
import { commitDescriptions } from "./CommitDescriptions.ts"
import type { SourceRow } from "./SourceRow.ts"
import { type ChangesOf, type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"

/** Lanes, with the result of their last check. */
export const StoredLane = table("source_lanes", {
  source_id: SourceId,
  ref: Schema.String,
  path: Schema.String,
  source_snapshot_id: Schema.NullOr(SourceSnapshotId),
  resolved_commit: Schema.NullOr(Schema.String),
  last_look_at: Schema.NullOr(Timestamp),
  last_change_at: Schema.NullOr(Timestamp),
  next_look_at: Schema.NullOr(Timestamp),
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  error_since: Schema.NullOr(Timestamp)
})
type StoredLane = RowOf<typeof StoredLane.columns>

/** Lanes whose automatic sync was refused because the Workspace's queue was full. */
export const DeferredSyncRow = table("deferred_syncs", {
  source_id: SourceId,
  ref: Schema.String,
  path: Schema.String,
  trigger_kind: Schema.Literals(["webhook", "schedule"]),
  since: Timestamp
})
export type DeferredSyncRow = RowOf<typeof DeferredSyncRow.columns>

/** Time between a sync of a lane and the lane's next scheduled check. */
const lookInterval: Duration.Input = "5 minutes"

/** One ref and path of a Source. */
export interface Lane {
  readonly ref: string
  readonly path: string
}

/** A row of `source_lanes`. A lane in use that has never been synced has only a ref and a path. */
const LaneRow = rowShape(Struct.omit(StoredLane.columns, ["source_id"]))
export type LaneRow = RowOf<typeof LaneRow.columns>

/** A lane in use whose last fetch failed. */
const FailingLane = rowShape({
  sourceId: StoredLane.columns.source_id,
  sourceName: Schema.String,
  ref: StoredLane.columns.ref,
  path: StoredLane.columns.path,
  since: Timestamp
})
export type FailingLane = RowOf<typeof FailingLane.columns>

const DueLane = rowShape({
  sourceId: StoredLane.columns.source_id,
  ref: StoredLane.columns.ref,
  path: StoredLane.columns.path
})

const descriptionOf = (row: LaneRow, described: ReadonlyMap<string, CommitDescription>) => {
  const commitDescription = described.get(row.source_snapshot_id ?? "")
  return commitDescription === undefined ? {} : { commitDescription }
}

const toLane = (row: LaneRow, source: SourceRow, described: ReadonlyMap<string, CommitDescription>): SourceLane => ({
  ref: row.ref,
  path: row.path,
  ...(row.resolved_commit === null ? {} : { commit: row.resolved_commit }),
  ...(row.source_snapshot_id === null ? {} : { sourceSnapshotId: row.source_snapshot_id }),
  ...descriptionOf(row, described),
  ...(row.last_look_at === null ? {} : { lastLookAt: row.last_look_at }),
  ...(row.last_change_at === null ? {} : { lastChangeAt: row.last_change_at }),
  ...(row.error_code === null || row.error_since === null
    ? {}
    : { error: { code: row.error_code, message: row.error_message ?? "", since: row.error_since } }),
  ...(source.auto_sync === 1 && source.status !== "disabled" && row.next_look_at !== null
    ? { nextLookAt: row.next_look_at }
    : {})
})

/** Returns the lanes of a Source that are in use, with the default lane first. */
const readLanes = (sql: SqlClient.SqlClient, source: SourceRow) =>
  Effect.orDie(LaneRow.rows(
    sql
  )`SELECT u.ref, u.path, l.source_snapshot_id, l.resolved_commit, l.last_look_at, l.last_change_at,
      l.next_look_at, l.error_code, l.error_message, l.error_since
    FROM ${sql.literal(lanesInUse)} u LEFT JOIN source_lanes l
      ON l.source_id = u.source_id AND l.ref = u.ref AND l.path = u.path
    WHERE u.source_id = ${source.id}
    ORDER BY (u.ref = ${source.default_ref} AND u.path = ${source.default_path}) DESC, u.ref, u.path`)

/** Returns the lanes in the form that a Source's record shows. */
export const projectLanes = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, source: SourceRow) {
  const rows = yield* readLanes(sql, source)
  const described = yield* commitDescriptions(
    sql,
    rows.map((row) => row.source_snapshot_id)
  )
  return rows.map((row) => toLane(row, source, described))
})

/** Returns the failing lanes of a Workspace, except those of disabled Sources. */
export const failingLanes = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) =>
  Effect.orDie(FailingLane.rows(
    sql
  )`SELECT s.id AS "sourceId", s.name AS "sourceName", l.ref, l.path, l.error_since AS since
    FROM sources s JOIN ${sql.literal(lanesInUse)} u ON u.source_id = s.id
    JOIN source_lanes l ON l.source_id = u.source_id AND l.ref = u.ref AND l.path = u.path
    WHERE s.workspace_id = ${workspaceId} AND s.status <> 'disabled' AND l.error_code IS NOT NULL
    ORDER BY l.error_since, s.id, l.ref, l.path LIMIT 100`)

/**
 * Returns true if a later check has already finished. A check with a future date is treated as earlier, because it was
 * recorded before the clock was corrected.
 */
const isOvertaken = (before: RowOf<typeof StoredLane.columns> | undefined, lookedAt: string) =>
  Effect.map(now, (at) => before?.last_look_at != null && before.last_look_at > lookedAt && before.last_look_at <= at)

/** The only writer of `source_lanes`. Every method works in the caller's transaction. */
export class SourceLanes extends Context.Service<
  SourceLanes,
  {
    /** Returns the Source's own lane first, followed by every other lane that a Capsule has adopted. */
    readonly inUse: (source: SourceRow) => Effect.Effect<ReadonlyArray<LaneRow>>
    readonly find: (sourceId: SourceId, lane: Lane) => Effect.Effect<LaneRow | undefined>
    /** Records that a sync was queued, so that the schedule does not start another sync. */
    readonly expected: (sourceId: SourceId, lane: Lane) => Effect.Effect<void>
    /**
     * Records the snapshot that a sync found, and clears the lane's error. Returns `false` and keeps the existing result if a
     * later sync has already finished.
     */
    readonly seen: (
      sourceId: SourceId,
      lane: Lane,
      found: { readonly snapshotId: SourceSnapshotId; readonly commit: string; readonly lookedAt: string }
    ) => Effect.Effect<boolean>
    /** Records a failed check. Returns `false` if the error is unchanged or a later check has already finished. */
    readonly failed: (
      sourceId: SourceId,
      lane: Lane,
      error: { readonly code: string; readonly message: string },
      lookedAt: string
    ) => Effect.Effect<boolean>
    /** Deletes the record of a lane that no Capsule follows, so that its snapshot may be removed. */
    readonly forget: (sourceId: SourceId, lane: Lane) => Effect.Effect<void>
    /** Sets the Source's status to `error` while any lane in use cannot be fetched. */
    readonly settleStatus: (sourceId: SourceId) => Effect.Effect<void>
    /** Returns the lanes that are due for a check, for Sources that sync automatically. */
    readonly due: Effect.Effect<ReadonlyArray<Lane & { readonly sourceId: SourceId }>>
  }
>()("svc/actors/ledger/source/SourceLanes") {
  static readonly layer = Layer.effect(
    SourceLanes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const next = Effect.map(Clock.currentTimeMillis, (millis) =>
        new Date(millis + Duration.toMillis(Duration.fromInputUnsafe(lookInterval))).toISOString()
      )

      const find = Effect.fnUntraced(function* (sourceId: SourceId, { path, ref }: Lane) {
        const rows = yield* StoredLane.rows(sql)`SELECT * FROM source_lanes
          WHERE source_id = ${sourceId} AND ref = ${ref} AND path = ${path}`
        return rows[0]
      }, Effect.orDie)

      const write = Effect.fnUntraced(function* (
        sourceId: SourceId,
        { path, ref }: Lane,
        columns: ChangesOf<typeof StoredLane>
      ) {
        yield* sql`INSERT INTO source_lanes ${StoredLane.values(sql, { source_id: sourceId, ref, path })} ON CONFLICT DO NOTHING`
        yield* sql`UPDATE source_lanes SET ${StoredLane.changes(sql, columns)}
          WHERE source_id = ${sourceId} AND ref = ${ref} AND path = ${path}`
      }, Effect.orDie)

      return SourceLanes.of({
        inUse: (source) => readLanes(sql, source),
        find,
        expected: (sourceId, lane) => Effect.flatMap(next, (at) => write(sourceId, lane, { next_look_at: at })),
        seen: Effect.fnUntraced(function* (sourceId, lane, { commit, lookedAt, snapshotId }) {
          const before = yield* find(sourceId, lane)
          if (yield* isOvertaken(before, lookedAt)) return false
          yield* write(sourceId, lane, {
            source_snapshot_id: snapshotId,
            resolved_commit: commit,
            last_look_at: lookedAt,
            ...(before?.resolved_commit === commit ? {} : { last_change_at: lookedAt }),
            next_look_at: yield* next,
            error_code: null,
            error_message: null,
            error_since: null
          })
          if (before?.error_code != null) yield* reportHealed(sql, sourceId, lane, commit)
          return true
        }),
        failed: Effect.fnUntraced(function* (sourceId, lane, { code, message }, lookedAt) {
          const before = yield* find(sourceId, lane)
          if (yield* isOvertaken(before, lookedAt)) return false
          yield* write(sourceId, lane, {
            last_look_at: lookedAt,
            next_look_at: yield* next,
            error_code: code,
            error_message: message,
            error_since: before?.error_since ?? lookedAt
          })
          if (before?.error_code == null) yield* reportBroken(sql, sourceId, lane, code)
          return before?.error_code !== code
        }),
        forget: (sourceId, { path, ref }) =>
          Effect.asVoid(
            Effect.orDie(
              sql`DELETE FROM source_lanes WHERE source_id = ${sourceId} AND ref = ${ref} AND path = ${path}`
            )
          ),
        settleStatus: Effect.fnUntraced(function* (sourceId: SourceId) {
          // Starts with the failing lanes, because there are few of them and because determining the lanes in use is
          // expensive.
          const failing = yield* sql`SELECT 1 AS one FROM source_lanes l
            WHERE l.source_id = ${sourceId} AND l.error_code IS NOT NULL AND EXISTS (SELECT 1 FROM ${sql.literal(lanesInUse)} u
              WHERE u.source_id = l.source_id AND u.ref = l.ref AND u.path = l.path) LIMIT 1`
          const status = failing.length > 0 ? "error" : "active"
          yield* sql`UPDATE sources SET status = ${status} WHERE id = ${sourceId} AND status NOT IN ('disabled', ${status})`
        }, Effect.orDie),
        due: Effect.gen(function* () {
          const at = yield* now
          // If a check is scheduled for more than one interval ahead, it was scheduled before the clock was corrected, so it
          // is due.
          const latest = yield* next
          return yield* DueLane.rows(sql)`SELECT s.id AS "sourceId", u.ref, u.path FROM sources s
            JOIN workspaces w ON w.id = s.workspace_id AND w.archived_at IS NULL
            JOIN ${sql.literal(lanesInUse)} u ON u.source_id = s.id
            LEFT JOIN source_lanes l ON l.source_id = u.source_id AND l.ref = u.ref AND l.path = u.path
            WHERE s.auto_sync = 1 AND s.status <> 'disabled' AND (COALESCE(l.next_look_at, '') <= ${at}
              OR l.next_look_at > ${latest})
            ORDER BY s.id, u.ref, u.path`
        }).pipe(Effect.orDie)
      })
    })
  )
}
