import { Schema } from "effect"
import { Platform } from "../../../schema/agent/AgentIdentity.ts"
import { JobKind } from "../../../schema/agent/AgentJob.ts"
import { Digest } from "../../../schema/agent/Blob.ts"
import { AgentId, EvidenceId, LeftOverStateId, RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { JournalResource } from "../../../runner/execution/RunOutcome.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** The files that an agent sent at the end of a job, as digests of sealed blobs. */
export const ResultJson = jsonText(
  Schema.Struct({
    outcome: Digest,
    planFile: Schema.optionalKey(Digest),
    state: Schema.optionalKey(Digest),
    build: Schema.optionalKey(Digest)
  })
)
export type StoredResult = ReturnType<typeof ResultJson.read>

/** One claim of a Run by an agent. */
export const AgentRunRow = table("agent_runs", {
  run_id: RunId,
  fence: Schema.Int,
  agent_id: AgentId,
  /** The agent's own name for its request. */
  claim: Schema.String,
  incarnation: Schema.String,
  kind: JobKind,
  /** The agent's platform when it claimed the Run: a plan is applied on the platform on which it was created. */
  platform: Platform,
  lease_seconds: Schema.Int,
  offered_at: Timestamp,
  accepted_at: Schema.NullOr(Timestamp),
  checkpoint_serial: Schema.NullOr(Schema.Int),
  result: Schema.NullOr(ResultJson),
  result_at: Schema.NullOr(Timestamp),
  /** Set once the claim is no longer in effect. */
  ended_at: Schema.NullOr(Timestamp),
  /** The time since which the agent has received no answer although it reaches the server. */
  unanswered_since: Schema.NullOr(Timestamp)
})
export type AgentRunRow = RowOf<typeof AgentRunRow.columns>

/** The changes of an apply, as recorded by its agent. */
export const JournalJson = jsonText(
  Schema.Struct({
    started: Schema.Array(JournalResource),
    completed: Schema.Array(JournalResource),
    possiblyCreated: Schema.Array(Schema.String)
  })
)

/** The evidence that an agent submitted after its Run was settled without it. */
export const AgentEvidenceRow = table("agent_evidence", {
  id: EvidenceId,
  run_id: RunId,
  fence: Schema.Int,
  agent_id: AgentId,
  digest: Digest,
  journal: JournalJson,
  left_over_state_id: Schema.NullOr(LeftOverStateId),
  received_at: Timestamp
})
