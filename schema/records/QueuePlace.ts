import { Schema } from "effect"
import { RunId } from "./Ids.ts"

/**
 * Places for executing Runs on the control plane come in two pools, so that neither can take the other's. `builds` is for what
 * fetches and builds: syncs, compatibility checks, and plans whose configuration has a source build. `runs` is for everything
 * else. `agents` are the places of the pool of agents that the Run is for.
 */
export const SlotPool = Schema.Literals(["runs", "builds", "agents"])
export type SlotPool = typeof SlotPool.Type

/**
 * Why a queued Run has not started.
 *
 * - `capsule_busy`: another Run of its Capsule is running or was asked for first
 * - `workspace_limit`: its Workspace has as many Runs executing in this pool as one Workspace may have
 * - `places_taken`: every place of the pool is taken; of a pool of agents, every place of those that can execute it
 * - `place_kept`: a drift check leaves the last free place to what a person may ask for
 * - `no_agent`: no agent of its pool can execute it now: none is connected, or none has what it needs
 * - `turn`: nothing is in its way; it starts when it is its turn
 */
export const QueueReason = Schema.Literals([
  "capsule_busy",
  "workspace_limit",
  "places_taken",
  "place_kept",
  "no_agent",
  "turn"
])
export type QueueReason = typeof QueueReason.Type

/**
 * What no agent has that could execute the Run now.
 *
 * - `assignment`: the operator has not assigned the pool to the Workspace
 * - `agent`: no agent of the pool is connected
 * - `tool`, `platform`, `isolation`: what the Run needs, and no connected agent has
 * - `disk`: the disks of those that could are nearly full
 * - `undrained`: those that could are draining
 */
export const MissingProperty = Schema.Literals([
  "assignment",
  "agent",
  "tool",
  "platform",
  "isolation",
  "disk",
  "undrained"
])
export type MissingProperty = typeof MissingProperty.Type

export class MissingOfAgents extends Schema.Opaque<MissingOfAgents>()(
  Schema.Struct({
    property: MissingProperty,
    /** Of `tool`, `platform` and `isolation`: what the Run needs. */
    needed: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "MissingOfAgents" })
) {}

/** Where a queued Run stands, and what it waits for. It reveals nothing about other Workspaces except that places are taken. */
export class QueuePlace extends Schema.Opaque<QueuePlace>()(
  Schema.Struct({
    position: Schema.Int.annotate({
      description:
        "Place in the line that the reason names, 1 being the next to start. With capsule_busy: among the Runs of the Capsule, the running one included. Otherwise: among the Runs of the Workspace that wait for a place of the same pool, in the order in which they start."
    }),
    pool: SlotPool.annotate({
      description:
        "Which places it waits for: builds (syncs, compatibility checks, plans with a source build), agents (those of the pool that the Run is for) or runs (everything else)."
    }),
    reason: QueueReason.annotate({
      description:
        "capsule_busy: another Run of the Capsule goes first. workspace_limit: the Workspace has as many Runs executing as it may. places_taken: every place of the pool is taken. place_kept: a drift check leaves the last free place to what a person may ask for. no_agent: no agent of its pool can execute it now, and the message says why. turn: nothing is in its way but the turn of others."
    }),
    message: Schema.String.annotate({ description: "The reason as a sentence." }),
    missing: Schema.optionalKey(
      Schema.Array(MissingOfAgents).annotate({
        description:
          "With no_agent: what is missing. Several properties where one connected agent lacks the one and another the other."
      })
    ),
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
