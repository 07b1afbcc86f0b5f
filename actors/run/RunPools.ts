import { Context, Effect } from "effect"
import { localPool } from "../../schema/agent/PoolName.ts"
import type { SlotPool } from "../../schema/records/QueuePlace.ts"
import type { InstallConfigId } from "../../schema/records/Ids.ts"

/**
 * Which pool executes a new plan or drift check of a configuration: `local`, the control plane itself, unless its execution profile says
 * otherwise. An apply goes where its plan was made.
 */
export const RunPools = Context.Reference<(configId: InstallConfigId | undefined) => Effect.Effect<string>>(
  "svc/actors/run/RunPools",
  { defaultValue: () => () => Effect.succeed(localPool) }
)

const agentsPrefix = "agents:"

/** The places of a pool of agents, as `runs.slot_pool` and `run_turns` name them. */
export const placesOfPool = (pool: string): string => `${agentsPrefix}${pool}`

/** Whether they are those of agents. */
export const isOfAgents = (places: string): boolean => places.startsWith(agentsPrefix)

/** Which kind of places they are. */
export const slotPoolOf = (places: string): SlotPool =>
  isOfAgents(places) ? "agents" : places === "builds" ? "builds" : "runs"
