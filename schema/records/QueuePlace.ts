import { Schema } from "effect"
import { RunId } from "./Ids.ts"

/**
 * The control plane has two pools of places for executing Runs, so that neither can starve the other. `builds` is for work that
 * fetches and builds: syncs, compatibility checks, and plans whose configuration has a source build. `runs` is for everything
 * else. `agents` refers to the places in the Run's agent pool.
 */
export const SlotPool = Schema.Literals(["runs", "builds", "agents"])
export type SlotPool = typeof SlotPool.Type

/**
 * The reason why a queued Run has not started.
 *
 * - `capsule_busy`: another Run of its Capsule is running or was requested first
 * - `workspace_limit`: its Workspace has reached its limit of Runs executing in this pool
 * - `places_taken`: Runs occupy every place in the pool; in an agent pool, every place on the agents that can execute the Run
 * - `place_kept`: a drift check leaves the last free place to Runs requested by people
 * - `no_agent`: no agent in its pool can execute it now: none is connected, or none has what it needs; or, with `leases`, agents
 *   may still be executing an apply that began before a restore
 * - `turn`: nothing blocks it; it starts when its turn comes
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
 * The reason why no agent can execute the Run now.
 *
 * - `assignment`: the operator has not assigned the pool to the Workspace
 * - `agent`: no agent in the pool is connected
 * - `tool`, `platform`, `isolation`, `credentials`: the Run needs a tool, platform, isolation level or credentials that no
 *   connected agent has
 * - `capability`: the connected agents run a release that cannot execute this kind of plan
 * - `disk`: the agents that have the rest have nearly full disks
 * - `leases`: the leases of applies that began before a restore have not expired yet; `needed` is the time when they expire
 * - `undrained`: the agents that have everything are draining, or run a release to which the server sends no Runs
 */
export const MissingProperty = Schema.Literals([
  "assignment",
  "agent",
  "tool",
  "platform",
  "isolation",
  "credentials",
  "capability",
  "disk",
  "undrained",
  "leases"
])
export type MissingProperty = typeof MissingProperty.Type

export class MissingAgentProperty extends Schema.Opaque<MissingAgentProperty>()(
  Schema.Struct({
    property: MissingProperty,
    /** For `leases`, `tool`, `platform`, `isolation`, `credentials` and `capability`: the requirement of the Run. */
    needed: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "MissingOfAgents" })
) {}

/**
 * The position of a queued Run, and the reason why it waits. It reveals nothing about other Workspaces except that they occupy
 * places.
 */
export class QueuePlace extends Schema.Opaque<QueuePlace>()(
  Schema.Struct({
    position: Schema.Int,
    pool: SlotPool,
    reason: QueueReason,
    message: Schema.String,
    missing: Schema.optionalKey(Schema.Array(MissingAgentProperty)),
    heldByRunId: Schema.optionalKey(RunId),
    limit: Schema.optionalKey(Schema.Int)
  }).annotate({ identifier: "QueuePlace" })
) {}
