import { Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { serviceContext } from "../../schema/protocol/Command.ts"
import { SourceActor } from "../../schema/protocol/SourceActor.ts"
import { answered } from "../ActorClient.ts"
import { type DeferredSync, DeferredSyncs } from "./DeferredSyncs.ts"

/** How long a Source that follows by itself may be without a look at its lanes. */
const autoSyncAge: Duration.Input = "5 minutes"

interface DueLane {
  readonly id: string
  readonly ref: string
  readonly path: string
}

/** Syncs the lanes of Sources that follow by themselves (spec: Sources, autoSync). */
export class SourceSchedule extends Context.Service<
  SourceSchedule,
  {
    /** Starts a sync of every lane that is deferred, and of the default and adopted lanes of each Source that is due. */
    readonly syncDue: Effect.Effect<void>
  }
>()("svc/actors/source/SourceSchedule") {
  static readonly layer = Layer.effect(
    SourceSchedule,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const client = yield* SourceActor.client
      const deferred = yield* DeferredSyncs

      const syncDue = Effect.gen(function* () {
        const since = (yield* Clock.currentTimeMillis) - Duration.toMillis(Duration.fromInputUnsafe(autoSyncAge))
        const dueSince = new Date(since).toISOString()
        const isDue = sql`s.auto_sync = 1 AND s.status <> 'disabled' AND COALESCE(s.last_synced_at, '') < ${dueSince}
          AND NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.id = s.workspace_id AND w.archived_at IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.source_id = s.id AND r.type = 'source_sync'
            AND (r.status IN ('queued', 'running') OR r.created_at >= ${dueSince}))`
        const due = yield* sql<DueLane>`
          SELECT s.id, s.default_ref AS ref, s.default_path AS path FROM sources s WHERE ${isDue}
          UNION
          SELECT s.id, c.adopted_ref AS ref, c.adopted_path AS path FROM sources s
            JOIN capsules c ON c.source_id = s.id AND c.adopted_ref IS NOT NULL AND c.status <> 'destroyed'
            WHERE ${isDue}`
        const lanes = new Map<string, DeferredSync>()
        const scheduled = due.map(({ id, path, ref }) => ({ sourceId: id, ref, path, trigger: "schedule" as const }))
        // What is deferred keeps what it came from; a lane that is due as well is synced once.
        for (const lane of [...scheduled, ...(yield* deferred.all)]) {
          lanes.set(JSON.stringify([lane.sourceId, lane.ref, lane.path]), lane)
        }
        for (const { path, ref, sourceId, trigger } of lanes.values()) {
          yield* Effect.ignore(
            answered(
              client(sourceId).Sync({ context: serviceContext, intent: "observe", trigger, lane: { ref, path } })
            )
          )
        }
      }).pipe(Effect.orDie, Effect.withSpan("SourceSchedule.syncDue"))

      return SourceSchedule.of({ syncDue })
    })
  )
}
