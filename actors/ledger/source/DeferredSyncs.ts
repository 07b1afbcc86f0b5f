import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import type { SourceId } from "../../../schema/records/Ids.ts"
import { DeferredSyncRow } from "./SourceLanes.ts"

/** A lane whose automatic sync was refused because the Workspace's queue was full. */
export interface DeferredSync {
  readonly sourceId: SourceId
  readonly ref: string
  readonly path: string
  readonly trigger: "webhook" | "schedule"
}

/** The only writer of `deferred_syncs`: lanes that the schedule retries until their sync is queued. */
export class DeferredSyncs extends Context.Service<
  DeferredSyncs,
  {
    /** Returns `false` if the lane was already deferred. */
    readonly defer: (sync: DeferredSync) => Effect.Effect<boolean>
    readonly isDeferred: (sourceId: SourceId, lane: { ref: string; path: string }) => Effect.Effect<boolean>
    /** Call it when a sync of the lane has been queued. */
    readonly queued: (sourceId: SourceId, lane: { ref: string; path: string }) => Effect.Effect<void>
    /** Call it when the Source no longer syncs automatically. */
    readonly forget: (sourceId: SourceId) => Effect.Effect<void>
    /** Returns the deferred lanes of Sources that sync automatically, except in archived Workspaces. */
    readonly all: Effect.Effect<ReadonlyArray<DeferredSync>>
  }
>()("svc/actors/ledger/source/DeferredSyncs") {
  static readonly layer = Layer.effect(
    DeferredSyncs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return DeferredSyncs.of({
        defer: Effect.fnUntraced(function* ({ path, ref, sourceId, trigger }: DeferredSync) {
          const row = { source_id: sourceId, ref, path, trigger_kind: trigger, since: yield* now }
          const added =
            yield* sql`INSERT INTO deferred_syncs ${DeferredSyncRow.values(sql, row)} ON CONFLICT DO NOTHING RETURNING source_id`
          return added.length > 0
        }, Effect.orDie),
        isDeferred: Effect.fnUntraced(function* (sourceId: SourceId, { path, ref }: { ref: string; path: string }) {
          const found = yield* sql`SELECT 1 AS one FROM deferred_syncs
            WHERE source_id = ${sourceId} AND ref = ${ref} AND path = ${path}`
          return found.length > 0
        }, Effect.orDie),
        queued: Effect.fnUntraced(function* (sourceId: SourceId, { path, ref }: { ref: string; path: string }) {
          yield* sql`DELETE FROM deferred_syncs WHERE source_id = ${sourceId} AND ref = ${ref} AND path = ${path}`
        }, Effect.orDie),
        forget: Effect.fnUntraced(function* (sourceId: SourceId) {
          yield* sql`DELETE FROM deferred_syncs WHERE source_id = ${sourceId}`
        }, Effect.orDie),
        all: Effect.map(
          Effect.orDie(DeferredSyncRow.some(
            sql,
            "source_id",
            "ref",
            "path",
            "trigger_kind"
          )`SELECT d.source_id, d.ref, d.path, d.trigger_kind FROM deferred_syncs d
            JOIN sources s ON s.id = d.source_id JOIN workspaces w ON w.id = s.workspace_id
            WHERE s.auto_sync = 1 AND s.status <> 'disabled' AND w.archived_at IS NULL ORDER BY d.since, d.source_id, d.ref, d.path`),
          (rows) =>
            rows.map(({ path, ref, source_id, trigger_kind }) => ({
              sourceId: source_id,
              ref,
              path,
              trigger: trigger_kind
            }))
        )
      })
    })
  )
}
