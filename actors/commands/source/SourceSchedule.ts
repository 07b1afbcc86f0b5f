import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { type DeferredSync, DeferredSyncs } from "../../ledger/source/DeferredSyncs.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"

/** Syncs the lanes of Sources that sync automatically (specification, Sources). */
export class SourceSchedule extends Context.Service<
  SourceSchedule,
  {
    /**
     * Starts a sync of every deferred lane and of each due lane that is in use, and requests the due polls for pull
     * requests.
     */
    readonly syncDue: Effect.Effect<void>
  }
>()("svc/actors/commands/source/SourceSchedule") {
  static readonly layer = Layer.effect(
    SourceSchedule,
    Effect.gen(function* () {
      const command = yield* SourceCommands
      const deferred = yield* DeferredSyncs
      const sourceLanes = yield* SourceLanes

      const sql = yield* SqlClient.SqlClient
      const pullRequests = yield* PullRequestStore
      const work = yield* DueWork

      const syncDue = Effect.gen(function* () {
        // Looks first, because a transaction waits for every other writer.
        if ((yield* pullRequests.isAnyDue) && (yield* transaction(sql)(pullRequests.askDue))) yield* work.wake
        const lanes = new Map<string, DeferredSync>()
        const scheduled = (yield* sourceLanes.due).map((lane) => ({ ...lane, trigger: "schedule" as const }))
        // A deferred lane keeps its trigger. A lane that is both deferred and due is synced once.
        for (const lane of [...scheduled, ...(yield* deferred.all)]) {
          lanes.set(JSON.stringify([lane.sourceId, lane.ref, lane.path]), lane)
        }
        for (const { path, ref, sourceId, trigger } of lanes.values()) {
          yield* command
            .Sync(sourceId, { context: serviceContext, intent: "observe", trigger, lane: { ref, path } })
            .pipe(
              Effect.ignore,
              // A Source with a defect does not delay the others.
              Effect.catchDefect((defect) => Effect.logError(`The sync of ${sourceId} could not be started.`, defect))
            )
        }
      }).pipe(Effect.withSpan("SourceSchedule.syncDue"))

      return SourceSchedule.of({ syncDue })
    })
  )
}
