import { Schema } from "effect"
import { RunId } from "./Ids.ts"

/**
 * Places for executing Runs come in two pools, so that neither can take the other's. `builds` is for what fetches and
 * builds: syncs, compatibility checks, and plans whose configuration has a source build. `runs` is for everything else.
 */
export const SlotPool = Schema.Literals(["runs", "builds"])
export type SlotPool = typeof SlotPool.Type

/**
 * Why a queued Run has not started.
 *
 * - `capsule_busy`: another Run of its Capsule is running or was asked for first
 * - `workspace_limit`: its Workspace has as many Runs executing in this pool as one Workspace may have
 * - `places_taken`: every place of the pool is taken
 * - `place_kept`: a drift check leaves the last free place to what a person may ask for
 * - `turn`: nothing is in its way; it starts when it is its turn
 */
export const QueueReason = Schema.Literals(["capsule_busy", "workspace_limit", "places_taken", "place_kept", "turn"])
export type QueueReason = typeof QueueReason.Type

/** Where a queued Run stands, and what it waits for. It reveals nothing about other Workspaces except that places are taken. */
export class QueuePlace extends Schema.Opaque<QueuePlace>()(
  Schema.Struct({
    position: Schema.Int.annotate({
      description:
        "Place in the line that the reason names, 1 being the next to start. With capsule_busy: among the Runs of the Capsule, the running one included. Otherwise: among the Runs of the Workspace that wait for a place of the same pool, in the order in which they start."
    }),
    pool: SlotPool.annotate({
      description:
        "Which places it waits for: builds (syncs, compatibility checks, plans with a source build) or runs (everything else)."
    }),
    reason: QueueReason.annotate({
      description:
        "capsule_busy: another Run of the Capsule goes first. workspace_limit: the Workspace has as many Runs executing as it may. places_taken: every place of the pool is taken. place_kept: a drift check leaves the last free place to what a person may ask for. turn: nothing is in its way but the turn of others."
    }),
    message: Schema.String.annotate({ description: "The reason as a sentence." }),
    heldByRunId: Schema.optionalKey(
      RunId.annotate({ description: "The Run of the same Workspace that it waits for, where there is one." })
    ),
    limit: Schema.optionalKey(
      Schema.Int.annotate({
        description: "The limit that was reached, with workspace_limit, places_taken and place_kept."
      })
    )
  }).annotate({ identifier: "QueuePlace" })
) {}
