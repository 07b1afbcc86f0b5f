import { Schema } from "effect"
import { Platform } from "../../../schema/agent/AgentIdentity.ts"
import { JobKind } from "../../../schema/agent/AgentJob.ts"
import { Digest } from "../../../schema/agent/Blob.ts"
import { AgentId, EvidenceId, OrphanedStateId, RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { JournalResource } from "../../../runner/execution/RunOutcome.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** The files that belong to a job's result, identified by the digests of the sealed blobs. */
export const ResultJson = jsonText(
  Schema.Struct({
    outcome: Digest,
    planFile: Schema.optionalKey(Digest),
    state: Schema.optionalKey(Digest),
    build: Schema.optionalKey(Digest)
  })
)
export type StoredResult = ReturnType<typeof ResultJson.read>

/** A claim assigns one Run to one agent. */
export const AgentRunRow = table(
  "agent_runs",
  {
    run_id: RunId,
    fence: Schema.Int,
    agent_id: AgentId,
    /** The id that the agent chose for its request. */
    claim: Schema.String,
    incarnation: Schema.String,
    kind: JobKind,
    /** The agent's platform when it claimed the Run. An apply must run on the platform of its plan. */
    platform: Platform,
    lease_seconds: Schema.Int,
    offered_at: Timestamp,
    accepted_at: Schema.NullOr(Timestamp),
    checkpoint_serial: Schema.NullOr(Schema.Int),
    result: Schema.NullOr(ResultJson),
    result_at: Schema.NullOr(Timestamp),
    /** Set when the claim ends. */
    ended_at: Schema.NullOr(Timestamp),
    /** Time since which responses to the agent have been getting lost, although the agent's requests still arrive. */
    unanswered_since: Schema.NullOr(Timestamp),
    /**
     * Number of contacts, counted only by servers that share the database (`AgentLeases`). It is 0 until the job has been
     * prepared.
     */
    heard: Schema.Int,
    /** Serial of the agent's newest state, if servers share the database. */
    newest_serial: Schema.NullOr(Schema.Int),
    /** Time at which a server decided to give the Run up. Servers reject later messages about the claim. */
    closed_at: Schema.NullOr(Timestamp),
    /** The server that prepares the job and, once there is a result, the server that settles it. */
    node_id: Schema.NullOr(Schema.String)
  },
  ["heard"]
)
export type AgentRunRow = RowOf<typeof AgentRunRow.columns>

/** Changes that an agent recorded during an apply. */
export const JournalJson = jsonText(
  Schema.Struct({
    started: Schema.Array(JournalResource),
    completed: Schema.Array(JournalResource),
    possiblyCreated: Schema.Array(Schema.String)
  })
)

/** Evidence that agents submitted after their Run had been settled without it. */
export const AgentEvidenceRow = table("agent_evidence", {
  id: EvidenceId,
  run_id: RunId,
  fence: Schema.Int,
  agent_id: AgentId,
  digest: Digest,
  journal: JournalJson,
  left_over_state_id: Schema.NullOr(OrphanedStateId),
  received_at: Timestamp
})
