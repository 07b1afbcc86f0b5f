import { Schema } from "effect"
import { AgentFacts, AgentKeys } from "../../../schema/agent/AgentIdentity.ts"
import { PoolName } from "../../../schema/agent/PoolName.ts"
import { ProvidedMark } from "../../../schema/agent/ProvidedMark.ts"
import { ProvidedName } from "../../../schema/agent/ProvidedName.ts"
import { IsolationFloor } from "../../../schema/policy/ExecutionProfile.ts"
import { AgentId, EnrolmentTokenId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, rowShape, table } from "../../base/database/Table.ts"

export const PoolRow = table("agent_pools", {
  name: PoolName,
  /** Minimum isolation level for Runs of the pool. */
  isolation: Schema.NullOr(IsolationFloor),
  /** Maximum time, in seconds, that an agent may be silent during an apply. */
  lease_seconds: Schema.Int,
  created_at: Timestamp,
  archived_at: Schema.NullOr(Timestamp)
})
export type PoolRow = RowOf<typeof PoolRow.columns>

/** The Workspaces that may use a pool. */
export const PoolWorkspaceRow = table("agent_pool_workspaces", {
  pool: PoolName,
  workspace_id: WorkspaceId,
  assigned_at: Timestamp
})

/** The Workspaces that may use those credentials of a pool that have a given name. */
export const ProvisionRow = table("agent_pool_provisions", {
  pool: PoolName,
  name: ProvidedName,
  workspace_id: WorkspaceId,
  provided_at: Timestamp
})

export const EnrolmentTokenRow = table("agent_enrolment_tokens", {
  id: EnrolmentTokenId,
  pool: PoolName,
  secret_hash: Schema.String,
  uses_left: Schema.Int,
  created_at: Timestamp,
  expires_at: Timestamp,
  revoked_at: Schema.NullOr(Timestamp)
})
export type EnrolmentTokenRow = RowOf<typeof EnrolmentTokenRow.columns>

export const FactsJson = jsonText(AgentFacts)
export const KeysJson = jsonText(AgentKeys)

export const AgentRow = table("agents", {
  /** Time at which the agent became unreachable, as reported in notices. */
  away_reported_at: Schema.NullOr(Timestamp),
  id: AgentId,
  pool: PoolName,
  name: Schema.String,
  sign_key: Schema.String,
  seal_key: Schema.String,
  /** Public keys that the agent will use in its next session. */
  next_keys: Schema.NullOr(KeysJson),
  facts: FactsJson,
  enrolment_token_id: EnrolmentTokenId,
  enrolled_at: Timestamp,
  last_contact_at: Timestamp,
  drain_requested_at: Schema.NullOr(Timestamp),
  revoked_at: Schema.NullOr(Timestamp)
})
export type AgentRow = RowOf<typeof AgentRow.columns>

/**
 * An agent, including the number of Runs that it is executing. `runsOfAgent` is the SQL for this number; it requires the
 * alias `a` for the table of agents.
 */
export const BusyAgentRow = rowShape({ ...AgentRow.columns, runs: Schema.Int })
export type BusyAgentRow = RowOf<typeof BusyAgentRow.columns>
export const runsOfAgent = "(SELECT COUNT(*) FROM runs r WHERE r.status = 'running' AND r.owner = a.id) AS runs"

/** Keyed digests of credential values. Without the key, a stolen database does not help an attacker to guess the values. */
export const ProvidedMarksJson = jsonText(Schema.Array(ProvidedMark))

export const ProvidedMarkRow = table("agent_provided_marks", { agent_id: AgentId, ...ProvidedMark.fields })

export const AgentSessionRow = table("agent_sessions", {
  secret_hash: Schema.String,
  agent_id: AgentId,
  incarnation: Schema.String,
  /** True if the process accepts no new Runs. A second process of the agent may then open a session. */
  draining: Flag,
  created_at: Timestamp,
  expires_at: Timestamp
})
export type AgentSessionRow = RowOf<typeof AgentSessionRow.columns>

/** The server's keys. The private keys are sealed. */
export const ServerKeyRow = table("agent_server_keys", {
  id: Schema.String,
  sign_key: Schema.String,
  seal_key: Schema.String,
  sealed_keys: Schema.String,
  created_at: Timestamp
})
