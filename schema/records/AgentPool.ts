import { Schema, Struct } from "effect"
import { PoolName } from "../agent/PoolName.ts"
import { ProvidedName } from "../agent/ProvidedName.ts"
import { AgentFacts, Platform } from "../agent/AgentIdentity.ts"
import { IsolationFloor } from "../policy/ExecutionProfile.ts"
import { AgentId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { SandboxLevel, ToolIdentity } from "./Run.ts"

/** A pool of agents. `isolation` is the minimum isolation level for its Runs. */
export const AgentPool = Schema.Struct({
  name: PoolName,
  isolation: Schema.optionalKey(IsolationFloor),
  leaseSeconds: Schema.Int,
  createdAt: Timestamp,
  /** Handles of the Workspaces that may use the pool. */
  workspaces: Schema.Array(Schema.String),
  /** For each set of credentials on the pool's agents: the Workspaces that may use it. */
  provisions: Schema.Array(Schema.Struct({ name: ProvidedName, workspace: Schema.String })),
  agents: Schema.Int
}).annotate({ identifier: "AgentPool" })
export type AgentPool = typeof AgentPool.Type

/** An agent, with the facts from its last report. */
export const Agent = Schema.Struct({
  id: AgentId,
  pool: PoolName,
  name: Schema.String,
  status: Schema.Literals(["connected", "draining", "silent", "revoked"]),
  version: Schema.String,
  platform: Platform,
  tools: Schema.Array(ToolIdentity),
  isolation: SandboxLevel,
  labels: Schema.Record(Schema.String, Schema.String),
  /** The number of Runs that the agent can execute at once, and the number of Runs that it is executing. */
  places: Schema.Int,
  runs: Schema.Int,
  /** Disk space on the volume of the agent's folder. At `low`, the agent accepts no new Runs. */
  disk: AgentFacts.fields.disk,
  /** Names of the agent's own credentials. */
  provided: Schema.Array(ProvidedName),
  enrolledAt: Timestamp,
  /** Rounded; may be off by up to 30 seconds. */
  lastContactAt: Timestamp
}).annotate({ identifier: "Agent" })
export type Agent = typeof Agent.Type

/** A pool as shown to Workspaces that may use it. */
export const WorkspacePool = Schema.Struct({
  ...Struct.pick(AgentPool.fields, ["name", "isolation", "leaseSeconds"]),
  assignedAt: Timestamp,
  /** The number of the pool's agents in each status. */
  agents: Schema.Struct({ connected: Schema.Int, draining: Schema.Int, silent: Schema.Int }),
  /**
   * For the connected agents, across all Workspaces: the number of Runs they can execute at once, and the number they are
   * executing.
   */
  places: Schema.Int,
  runs: Schema.Int,
  /** The number of this Workspace's Runs that are waiting for the pool. */
  queued: Schema.Int,
  /** Names of the agents' credentials that Connections of the Workspace may use; absent if the operator allows none. */
  provided: Schema.optionalKey(Schema.Array(ProvidedName))
}).annotate({ identifier: "WorkspacePool" })
export type WorkspacePool = typeof WorkspacePool.Type

/** Default maximum time, in seconds, for which an agent may be silent during an apply. */
export const defaultLeaseSeconds = 2700
export const leaseBounds = { minimum: 120, maximum: 86_400 }
export const LeaseSeconds = Schema.Int.check(Schema.isBetween(leaseBounds))
