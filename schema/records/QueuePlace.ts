import { Schema } from "effect"
import { RunId } from "./Ids.ts"

/**
 * Runs on the control plane use two pools of slots, so that neither kind of Run can starve the other. `builds` is for Runs
 * that fetch or build: syncs, compatibility checks, and plans with a source build. `runs` is for all other Runs. `agents`
 * refers to the slots in a pool of agents.
 */
export const SlotPool = Schema.Literals(["runs", "builds", "agents"])
export type SlotPool = typeof SlotPool.Type

/**
 * The reason why a queued Run has not started.
 * - `capsule_busy`: another Run of its Capsule is running or was requested first
 * - `workspace_limit`: its Workspace is already executing the maximum number of Runs in this pool
 * - `places_taken`: every slot in the pool is taken; in a pool of agents, every slot on agents that can execute the Run
 * - `place_kept`: the Run is a drift check, and the last free slot is reserved for Runs that people request
 * - `no_agent`: no agent of its pool can execute it now, because no agent is connected, no agent meets the Run's
 *   requirements, or (with `leases`) agents may still be executing an apply from before a restore
 * - `turn`: nothing blocks the Run; it starts when its turn comes
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
 * - `agent`: no agent of the pool is connected
 * - `tool`, `platform`, `isolation`, `credentials`: no connected agent has the required tool, platform, isolation level or
 *   credentials
 * - `capability`: the release of the connected agents cannot execute this kind of plan
 * - `disk`: the suitable agents have almost no disk space left
 * - `leases`: leases of applies from before a restore have not expired yet; `needed` is the time when they expire
 * - `undrained`: the suitable agents are draining, or the server sends no Runs to their release
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
    /** For `leases`, `tool`, `platform`, `isolation`, `credentials` and `capability`: the Run's requirement. */
    needed: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "MissingOfAgents" })
) {}

/**
 * The position of a queued Run, and the reason why it is waiting. Reveals nothing about other Workspaces except that they
 * use slots.
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
