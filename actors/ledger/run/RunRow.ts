import { Schema, Struct } from "effect"
import {
  CapsuleId,
  CompatibilityReportId,
  ConnectionId,
  InstallConfigId,
  InstallPlanId,
  PullRequestId,
  RevisionPlanId,
  RunGroupId,
  RunId,
  SourceId,
  SourceSnapshotId,
  StateVersionId,
  Subject,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { QueuePlace } from "../../../schema/records/QueuePlace.ts"
import { planDetailNames, PlanDetails } from "../../../schema/records/PlanDetails.ts"
import {
  LatestRun,
  ListedRun,
  type PlanPurpose,
  RecordedPurpose,
  RecordedSandboxLevel,
  Run,
  RunEvidence,
  RunStatus,
  RunType
} from "../../../schema/records/Run.ts"
import { RunNetwork } from "../../../schema/records/RunConfinement.ts"
import { type RunDecisions, runDecisions } from "../../../schema/records/RunDecision.ts"
import type { RunStanding } from "../../../schema/records/RunTransitions.ts"
import { jsonText, storedJson, storedRecord } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, rowShape, table } from "../../base/database/Table.ts"

/** The evidence, except for the plan details. Earlier releases also stored the sandbox level in the evidence. */
export const EvidenceJson = jsonText(
  Schema.Struct({
    ...Struct.omit(RunEvidence.fields, planDetailNames),
    ...runDecisions,
    sandboxLevel: Schema.optionalKey(RecordedSandboxLevel)
  })
)

export const PlanDetailsJson = jsonText(PlanDetails)

/** The parameters of a Run. Each Run type has its own schema. */
export const SpecJson = jsonText(Schema.Record(Schema.String, Schema.Unknown))

/** Runs of every type. */
export const RunRow = table(
  "runs",
  {
    id: RunId,
    workspace_id: WorkspaceId,
    type: RunType,
    status: RunStatus,
    capsule_id: Schema.NullOr(CapsuleId),
    source_id: Schema.NullOr(SourceId),
    plan_run_id: Schema.NullOr(RunId),
    run_group_id: Schema.NullOr(RunGroupId),
    coordinator_kind: Schema.NullOr(Schema.Literals(["install_plan", "revision_plan", "pull_request"])),
    coordinator_id: Schema.NullOr(Schema.Union([InstallPlanId, RevisionPlanId, PullRequestId])),
    source_snapshot_id: Schema.NullOr(SourceSnapshotId),
    resolved_commit: Schema.NullOr(Schema.String),
    compatibility_report_id: Schema.NullOr(CompatibilityReportId),
    install_config_id: Schema.NullOr(InstallConfigId),
    execution_authority_epoch: Schema.NullOr(Schema.Int),
    base_state_generation: Schema.NullOr(Schema.Int),
    base_state_version_id: Schema.NullOr(StateVersionId),
    plan_digest: Schema.NullOr(Schema.String),
    /** Keyed digest of the change in the plan (see `runner/execution/ChangeDigest.ts`). */
    change_digest: Schema.NullOr(Schema.String),
    requires_approval: Flag,
    approved_by: Schema.NullOr(Subject),
    approved_at: Schema.NullOr(Timestamp),
    approval_comment: Schema.NullOr(Schema.String),
    used_by_run_id: Schema.NullOr(RunId),
    created_by: Schema.NullOr(Schema.String),
    trigger_kind: Run.fields.trigger,
    purpose: Schema.NullOr(RecordedPurpose),
    attempt: Schema.Int,
    /** The owner that executes the Run; null unless the Run is running. */
    owner: Schema.NullOr(Schema.String),
    /** Incremented by every claim; never decreases. */
    fence: Schema.Int,
    lease_seconds: Schema.NullOr(Schema.Int),
    /** The pool that executes the Run: `local`, or a pool of agents. `slot_pool` is the slot pool in which the Run waits. */
    pool: Schema.String,
    start_acknowledged_at: Schema.NullOr(Timestamp),
    /** Time since which the executing agent has not responded; null while the agent responds. */
    agent_unreachable_since: Schema.NullOr(Timestamp),
    last_event_seq: Schema.Int,
    last_event_batch: Schema.Int,
    last_log_seq: Schema.Int,
    last_log_batch: Schema.Int,
    /** Set once the log is complete. */
    log_ended_at: Schema.NullOr(Timestamp),
    /** Set when retention has removed the log. */
    log_removed_at: Schema.NullOr(Timestamp),
    /** Set while lines of the removed log remain to be deleted. */
    log_removing: Flag,
    spec: SpecJson,
    evidence: EvidenceJson,
    error_code: Schema.NullOr(Schema.String),
    error_message: Schema.NullOr(Schema.String),
    state_version_id: Schema.NullOr(StateVersionId),
    connection_id: Schema.NullOr(ConnectionId),
    /** True if the Run is a check that has found nothing so far. Lists omit these checks. */
    quiet: Flag,
    isolation: Schema.NullOr(RecordedSandboxLevel),
    network: Schema.NullOr(RunNetwork),
    profile: Schema.NullOr(Schema.String),
    /** Digest of the execution profile when the Run started. */
    profile_digest: Schema.NullOr(Schema.String),
    /** For an apply, true if the tool succeeded, regardless of later failures. */
    provider_apply_succeeded: Schema.NullOr(Flag),
    cancel_requested_at: Schema.NullOr(Timestamp),
    cancel_reason: Schema.NullOr(Schema.String),
    created_at: Timestamp,
    queued_at: Timestamp,
    slot_pool: Schema.String,
    /** The Capsule whose queue contains the Run; null if the Run may run in parallel with other Runs of its Capsule. */
    capsule_line: Schema.NullOr(CapsuleId),
    /** Set by triggers while the Run waits for other Runs of its Capsule. */
    capsule_wait: Flag,
    started_at: Schema.NullOr(Timestamp),
    finished_at: Schema.NullOr(Timestamp),
    expires_at: Schema.NullOr(Timestamp),
    /**
     * The part of the evidence that may be large. It must be the last column, so that SQLite reads it only for queries that
     * select it.
     */
    plan_details: PlanDetailsJson
  },
  [
    "fence",
    "pool",
    "last_event_seq",
    "last_event_batch",
    "last_log_seq",
    "last_log_batch",
    "log_removing",
    "quiet",
    "slot_pool",
    "capsule_wait",
    "plan_details"
  ]
)
export type RunRow = RowOf<typeof RunRow.columns>

/**
 * The columns that lists read. They exclude the parameters, the plan details and all columns after the plan details, because
 * SQLite can reach a column only by reading the pages of all earlier columns.
 */
export const ListedRunRow = RunRow.without("spec", "plan_details", "change_digest")
export type ListedRunRow = RowOf<typeof ListedRunRow.columns>

/** The Run columns shown in lists of Capsules. */
export const LatestRunRow = rowShape(
  Struct.pick(RunRow.columns, ["id", "capsule_id", "type", "status", "approved_at", "created_at", "finished_at"])
)
export type LatestRunRow = RowOf<typeof LatestRunRow.columns>

// Parses the values without a schema, because the whole Run is decoded afterwards.
const parseMembers = storedJson(Schema.Record(Schema.String, Schema.Unknown))
const decodeRun = storedRecord(Run)
const decodeListedRun = storedRecord(ListedRun)

/** Stored evidence, with the plan details in a separate column. */
export type StoredEvidence = Pick<RunRow, "evidence" | "plan_details">

/** Merges additions into stored evidence. */
export const mergedEvidence = (stored: StoredEvidence, added: RunEvidence & RunDecisions): StoredEvidence => ({
  evidence: EvidenceJson.write({ ...EvidenceJson.read(stored.evidence), ...Struct.omit(added, planDetailNames) }),
  plan_details: PlanDetailsJson.write({
    ...PlanDetailsJson.read(stored.plan_details),
    ...Struct.pick(added, planDetailNames)
  })
})

/** The purpose of a plan that only changes the state, and of its apply. */
export const acceptsDrift = "accept_drift" satisfies PlanPurpose

/**
 * Returns true for a speculative plan, which only shows the changes that a ref would make and is never approved or applied.
 */
export const isSpeculative = ({ purpose }: Pick<RunRow, "purpose">): boolean => purpose === "speculative"

/** The evidence of a new Run. */
export const noEvidence: StoredEvidence = { evidence: "{}", plan_details: "{}" }

export const standingOf = (row: Pick<RunRow, "type" | "status" | "approved_at" | "used_by_run_id">): RunStanding => ({
  type: row.type,
  status: row.status,
  isApproved: row.approved_at !== null,
  isUsed: row.used_by_run_id !== null
})

/**
 * Returns an SQL condition that is equivalent to `isPendingPlan`. `of` is the alias of `runs` with a trailing dot. A test
 * compares the condition and the function.
 */
export const pendingPlan = (of = ""): string =>
  `${of}type IN ('plan', 'destroy_plan', 'restore') AND (${of}status = 'waiting_approval'
    OR (${of}status = 'succeeded' AND ${of}approved_at IS NOT NULL AND ${of}used_by_run_id IS NULL))`

/** Drops columns that are null, because records omit absent fields. */
export const present = <A extends Record<string, unknown>>(fields: A): { [K in keyof A]?: NonNullable<A[K]> } => {
  const kept: { [K in keyof A]?: NonNullable<A[K]> } = {}
  for (const key of Object.keys(fields) as Array<keyof A>) {
    const value = fields[key]
    if (value !== null && value !== undefined) kept[key] = value
  }
  return kept
}

const projected = (row: ListedRunRow, queue: typeof QueuePlace.Encoded | undefined) => {
  const { sandboxLevel, ...evidence } = parseMembers(row.evidence)
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    type: row.type,
    status: row.status,
    requiresApproval: row.requires_approval === 1,
    trigger: row.trigger_kind,
    attempt: row.attempt,
    createdAt: row.created_at,
    queuedAt: row.queued_at,
    ...evidence,
    ...(row.purpose === acceptsDrift ? { refreshOnly: true } : {}),
    ...(isSpeculative(row) ? { speculative: true } : {}),
    ...present({
      capsuleId: row.capsule_id,
      sourceId: row.source_id,
      planRunId: row.plan_run_id,
      runGroupId: row.run_group_id,
      revisionPlanId: row.coordinator_kind === "revision_plan" ? row.coordinator_id : undefined,
      sourceSnapshotId: row.source_snapshot_id,
      resolvedCommit: row.resolved_commit,
      compatibilityReportId: row.compatibility_report_id,
      installConfigId: row.install_config_id,
      executionAuthorityEpoch: row.execution_authority_epoch,
      baseStateGeneration: row.base_state_generation,
      planDigest: row.plan_digest,
      approvedBy: row.approved_by,
      approvedAt: row.approved_at,
      approvalComment: row.approval_comment,
      createdBy: row.created_by,
      purpose: isSpeculative(row) ? undefined : row.purpose,
      pullRequestId: row.coordinator_kind === "pull_request" ? row.coordinator_id : undefined,
      stateVersionId: row.state_version_id,
      connectionId: row.connection_id,
      isolation: row.isolation ?? sandboxLevel,
      network: row.network,
      profile: row.profile,
      profileDigest: row.profile_digest,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      expiresAt: row.expires_at,
      logRemovedAt: row.log_removed_at,
      pool: row.pool === localPool ? undefined : row.pool,
      agentId: row.pool === localPool ? undefined : row.owner,
      agentUnreachableSince: row.status === "running" ? row.agent_unreachable_since : undefined,
      queue: row.status === "queued" ? queue : undefined,
      error: row.error_code === null ? undefined : { code: row.error_code, message: row.error_message ?? "" }
    })
  }
}

/** Returns the public projection of a Run. */
export const toRun = (row: Omit<RunRow, "spec">, queue?: typeof QueuePlace.Encoded): Run =>
  decodeRun({
    ...projected(row, queue),
    ...present({ changeDigest: row.change_digest }),
    ...parseMembers(row.plan_details)
  })

/** Returns the public projection of a Run in a list. */
export const toListedRun = (row: ListedRunRow, queue?: typeof QueuePlace.Encoded): ListedRun =>
  decodeListedRun(projected(row, queue))

const decodeLatestRun = storedRecord(LatestRun)

export const toLatestRun = (row: LatestRunRow): LatestRun =>
  decodeLatestRun({
    capsuleId: row.capsule_id,
    runId: row.id,
    type: row.type,
    status: row.status,
    createdAt: row.created_at,
    ...present({ approvedAt: row.approved_at, finishedAt: row.finished_at })
  })
