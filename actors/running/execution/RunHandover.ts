import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  type InstallPlanId,
  type PullRequestId,
  type RevisionPlanId,
  RunId,
  type SourceId,
  type SourceSnapshotId
} from "../../../schema/records/Ids.ts"
import type { RunTrigger } from "../../../schema/records/Run.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { table } from "../../base/database/Table.ts"
import { DueWork } from "../../base/DueWork.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { removableBy } from "../../ledger/run/UnreadSource.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"

/** Ended Runs and ready plans to which the coordinator or Capsule has not reacted yet. */
export const RunFollowDueRow = table("run_follow_due", { run_id: RunId })

/**
 * Notifies a Run's coordinator and its Capsule's lane when the Run ends. The transaction that ends the Run records the
 * notifications that are due; they are sent after the commit (design, section 3).
 */
export class RunHandover extends Context.Service<
  RunHandover,
  {
    /**
     * Called when a Run ends. Its coordinator takes the next step, and if a Source was created for its first sync and the
     * sync failed, the Source may be removed.
     */
    readonly finished: (run: RunRow) => Effect.Effect<void>
    /** Called when a plan is ready for review. If the plan is an automatic one, the Capsule actor may apply it. */
    readonly planned: (run: RunRow) => Effect.Effect<void>
    /** Called after carried-over approvals have approved a plan that svc is to apply. */
    readonly carried: (run: Pick<RunRow, "id">) => Effect.Effect<void>
    /** Called when a Source has a new snapshot. Capsules that follow the lane may need a plan. */
    readonly snapshotTaken: (snapshot: {
      readonly sourceId: SourceId
      readonly snapshotId: SourceSnapshotId
      readonly autoUpdate: boolean
      /** The trigger of the check that found the snapshot. */
      readonly look: RunTrigger
    }) => Effect.Effect<void>
    /** Called when the Capsule has reacted to the Run. Removes its entry from `run_follow_due`. */
    readonly followed: (runId: RunId) => Effect.Effect<void>
    /** Called when a coordinator has reacted to its Runs. Removes their entries from `run_follow_due`. */
    readonly coordinatorFollowed: (id: InstallPlanId | PullRequestId | RevisionPlanId) => Effect.Effect<void>
  }
>()("svc/actors/running/execution/RunHandover") {
  static readonly layer = Layer.effect(
    RunHandover,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sources = yield* SourceStore
      const capsules = yield* CapsuleLedger
      const { wake } = yield* DueWork

      const follow = Effect.fnUntraced(function* (run_id: RunId) {
        yield* sql`INSERT INTO run_follow_due ${RunFollowDueRow.values(sql, { run_id })} ON CONFLICT DO NOTHING`
        yield* sql.afterCommit(wake)
      }, Effect.orDie)

      return RunHandover.of({
        finished: Effect.fnUntraced(function* (run) {
          if (run.coordinator_id !== null) return yield* follow(run.id)
          const sourceId = removableBy(run)
          if (sourceId === undefined) return
          // Marks the Source, so that its actor checks whether any sync has read it. `run` is the Run's row as it was before
          // the Run ended.
          yield* sources.setUnreadDue(sourceId, run.id)
          yield* sql.afterCommit(wake)
        }),
        planned: (run) =>
          run.capsule_id === null || run.trigger_kind !== "auto_update" ? Effect.void : follow(run.id),
        carried: ({ id }) => follow(id),
        snapshotTaken: Effect.fn("RunHandover.snapshotTaken")(function* ({ autoUpdate, look, snapshotId, sourceId }) {
          if (!autoUpdate) return
          yield* capsules.followDue({ sourceId, snapshotId, look })
          yield* sql.afterCommit(wake)
        }),
        coordinatorFollowed: (id) =>
          Effect.asVoid(
            Effect.orDie(sql`DELETE FROM run_follow_due WHERE run_id IN
              (SELECT d.run_id FROM run_follow_due d JOIN runs r ON r.id = d.run_id WHERE r.coordinator_id = ${id})`)
          ),
        followed: (runId) => Effect.asVoid(Effect.orDie(sql`DELETE FROM run_follow_due WHERE run_id = ${runId}`))
      })
    })
  )
}
