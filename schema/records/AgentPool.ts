import { Schema, Struct } from "effect"
import { PoolName } from "../agent/PoolName.ts"
import { ProvidedName } from "../agent/ProvidedName.ts"
import { AgentFacts, Platform } from "../agent/AgentIdentity.ts"
import { IsolationFloor } from "../policy/ExecutionProfile.ts"
import { AgentId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { SandboxLevel, ToolIdentity } from "./Run.ts"

/** A pool of agents. `isolation` is the lowest level at which agents may execute its Runs. */
export const AgentPool = Schema.Struct({
  name: PoolName,
  isolation: Schema.optionalKey(IsolationFloor),
  leaseSeconds: Schema.Int,
  createdAt: Timestamp,
  /** Handles of the Workspaces that may use the pool. */
  workspaces: Schema.Array(Schema.String),
  /** The Workspaces that may use each of the pool agents' credentials. */
  provisions: Schema.Array(Schema.Struct({ name: ProvidedName, workspace: Schema.String })),
  agents: Schema.Int
}).annotate({ identifier: "AgentPool" })
export type AgentPool = typeof AgentPool.Type

/** An agent as it last described itself. */
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
  /** Number of Runs it can execute at once, and number it is executing. */
  places: Schema.Int,
  runs: Schema.Int,
  /** Disk space on the volume that holds its folder; `low` if the agent accepts no new Runs because of it. */
  disk: AgentFacts.fields.disk,
  /** Names of the agent's own credentials. */
  provided: Schema.Array(ProvidedName),
  enrolledAt: Timestamp,
  /** Accurate to within half a minute. */
  lastContactAt: Timestamp
}).annotate({ identifier: "Agent" })
export type Agent = typeof Agent.Type

/** A pool as shown to the Workspaces that may use it. */
export const WorkspacePool = Schema.Struct({
  ...Struct.pick(AgentPool.fields, ["name", "isolation", "leaseSeconds"]),
  assignedAt: Timestamp,
  /** Number of the pool's agents by status. */
  agents: Schema.Struct({ connected: Schema.Int, draining: Schema.Int, silent: Schema.Int }),
  /** For the connected agents: number of Runs they can execute at once, and number they are executing, across all Workspaces. */
  places: Schema.Int,
  runs: Schema.Int,
  /** Runs of this Workspace that are waiting for the pool. */
  queued: Schema.Int,
  /** Names of the agents' credentials that a Connection of the Workspace may use, if the operator has allowed any. */
  provided: Schema.optionalKey(Schema.Array(ProvidedName))
}).annotate({ identifier: "WorkspacePool" })
export type WorkspacePool = typeof WorkspacePool.Type

/** Maximum silence of an agent during an apply, unless the operator sets another value. */
export const defaultLeaseSeconds = 2700
export const leaseBounds = { minimum: 120, maximum: 86_400 }
export const LeaseSeconds = Schema.Int.check(Schema.isBetween(leaseBounds))
