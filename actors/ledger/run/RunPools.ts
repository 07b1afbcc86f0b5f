import { Context, Effect } from "effect"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { SlotPool } from "../../../schema/records/QueuePlace.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"

/**
 * Which pool executes a new plan or drift check of a configuration: `local` (the control plane itself), unless its execution
 * profile specifies another. An apply runs where its plan was created.
 */
export const RunPools = Context.Reference<(configId: InstallConfigId | undefined) => Effect.Effect<string>>(
  "svc/actors/ledger/run/RunPools",
  { defaultValue: () => () => Effect.succeed(localPool) }
)

const agentsPrefix = "agents:"

/** The places of a pool of agents, as named in `runs.slot_pool` and `run_turns`. */
export const placesOfPool = (pool: string): string => `${agentsPrefix}${pool}`

/** Whether these places belong to agents. */
export const isAgentSlotPool = (places: string): boolean => places.startsWith(agentsPrefix)

/** What kind of places these are. */
export const slotPoolOf = (places: string): SlotPool =>
  isAgentSlotPool(places) ? "agents" : places === "builds" ? "builds" : "runs"
