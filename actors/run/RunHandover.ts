import { Context, type Effect } from "effect"
import type { SourceId, SourceSnapshotId } from "../../schema/records/Ids.ts"
import type { RunTrigger } from "../../schema/records/Run.ts"
import type { RunRow } from "./RunRow.ts"

/**
 * Notifies a Run's coordinator and its Capsule's lane that the Run is over. Called inside the transaction that ends the Run: the
 * messages take effect when it commits (design, section 3).
 */
export class RunHandover extends Context.Service<
  RunHandover,
  {
    /** The coordinator takes its next step; a Source that was only to be kept if it was read may be removed. */
    readonly finished: (run: RunRow) => Effect.Effect<void>
    /** A plan is waiting for review: the Capsule may have opted in to applying its automatic plans. */
    readonly planned: (run: RunRow) => Effect.Effect<void>
    /** A Source has a new snapshot: Capsules that follow the lane may want a plan. */
    readonly snapshotTaken: (snapshot: {
      readonly sourceId: SourceId
      readonly snapshotId: SourceSnapshotId
      readonly autoUpdate: boolean
      /** What started the look that found the snapshot. */
      readonly look: RunTrigger
      /** The Run of the check, so that each check is handed over once. */
      readonly cause: string
    }) => Effect.Effect<void>
  }
>()("svc/actors/run/RunHandover") {}
