import { Schema } from "effect"
import type { SlotPool } from "../../schema/records/QueuePlace.ts"
import type { QueuePlace } from "../../schema/records/QueuePlace.ts"
import {
  LatestRun,
  Run,
  RunEvidence,
  RecordedSandboxLevel,
  type RunStatus,
  type RunType
} from "../../schema/records/Run.ts"
import type { RunStanding } from "../../schema/records/RunLifecycle.ts"

/** A row of `runs` as the database holds it. */
export interface RunRow {
  readonly id: string
  readonly workspace_id: string
  readonly type: RunType
  readonly status: RunStatus
  readonly capsule_id: string | null
  readonly source_id: string | null
  readonly plan_run_id: string | null
  readonly run_group_id: string | null
  readonly coordinator_kind: "install_plan" | "revision_plan" | null
  readonly coordinator_id: string | null
  readonly source_snapshot_id: string | null
  readonly resolved_commit: string | null
  readonly compatibility_report_id: string | null
  readonly install_config_id: string | null
  readonly execution_authority_epoch: number | null
  readonly base_state_generation: number | null
  readonly base_state_version_id: string | null
  readonly plan_digest: string | null
  readonly requires_approval: number
  readonly approved_by: string | null
  readonly approved_at: string | null
  readonly approval_comment: string | null
  readonly used_by_run_id: string | null
  readonly created_by: string | null
  readonly trigger_kind: string
  readonly purpose: string | null
  readonly attempt: number
  /** The executing owner; none unless it is running. */
  readonly owner: string | null
  /** Grows with every claim, and never goes down. */
  readonly fence: number
  readonly lease_seconds: number | null
  /** The pool of runners that the Run is for; not the places of the queue, which are `slot_pool`. */
  readonly pool: string
  readonly start_acknowledged_at: string | null
  readonly last_event_seq: number
  readonly last_event_batch: number
  readonly last_log_seq: number
  readonly last_log_batch: number
  /** Set once the log is complete. */
  readonly log_ended_at: string | null
  readonly spec: string
  readonly evidence: string
  readonly error_code: string | null
  readonly error_message: string | null
  readonly state_version_id: string | null
  readonly connection_id: string | null
  /** A look that has found nothing so far: it is in no list. */
  readonly quiet: number
  readonly isolation: string | null
  readonly network: string | null
  readonly profile: string | null
  /** Digest of the profile when the Run started. */
  readonly profile_digest: string | null
  /** For an apply: whether the tool itself succeeded, whatever came after. */
  readonly provider_apply_succeeded: number | null
  readonly cancel_requested_at: string | null
  readonly cancel_reason: string | null
  readonly created_at: string
  readonly queued_at: string
  readonly slot_pool: SlotPool
  /** The Capsule in whose line the Run stands; none where it may execute beside others of its Capsule. */
  readonly capsule_line: string | null
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly expires_at: string | null
}

/** The columns of a Run in a list of Capsules. */
export type LatestRunRow = Pick<
  RunRow,
  "id" | "capsule_id" | "type" | "status" | "approved_at" | "created_at" | "finished_at"
>

/** Earlier releases kept the level of the sandbox in the evidence. */
export const EvidenceJson = Schema.fromJsonString(
  Schema.Struct({ ...RunEvidence.fields, sandboxLevel: Schema.optionalKey(RecordedSandboxLevel) })
)
const decodeEvidence = Schema.decodeUnknownSync(EvidenceJson)
const encodeEvidence = Schema.encodeSync(EvidenceJson)
const decodeRun = Schema.decodeUnknownSync(Run)

/** Evidence in the row's form, with additions. */
export const mergedEvidence = (stored: string, added: RunEvidence): string =>
  encodeEvidence({ ...decodeEvidence(stored), ...added })

export const standingOf = (row: Pick<RunRow, "type" | "status" | "approved_at" | "used_by_run_id">): RunStanding => ({
  type: row.type,
  status: row.status,
  isApproved: row.approved_at !== null,
  isUsed: row.used_by_run_id !== null
})

/** `isPendingPlan` as a condition; `of` is the alias of `runs` with its dot. A test compares the two. */
export const pendingPlan = (of = ""): string =>
  `${of}type IN ('plan', 'destroy_plan') AND (${of}status = 'waiting_approval'
    OR (${of}status = 'succeeded' AND ${of}approved_at IS NOT NULL AND ${of}used_by_run_id IS NULL))`

/** Drops nulls of the database, since records omit absent fields. */
export const present = <A extends Record<string, unknown>>(fields: A): { [K in keyof A]?: NonNullable<A[K]> } => {
  const kept: { [K in keyof A]?: NonNullable<A[K]> } = {}
  for (const key of Object.keys(fields) as Array<keyof A>) {
    const value = fields[key]
    if (value !== null && value !== undefined) kept[key] = value
  }
  return kept
}

/** The public projection of a Run. */
export const toRun = (row: RunRow, queue?: typeof QueuePlace.Encoded): Run => {
  const { sandboxLevel, ...evidence } = decodeEvidence(row.evidence)
  return decodeRun({
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
      purpose: row.purpose,
      stateVersionId: row.state_version_id,
      connectionId: row.connection_id,
      isolation: row.isolation ?? sandboxLevel,
      network: row.network,
      profile: row.profile,
      profileDigest: row.profile_digest,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      expiresAt: row.expires_at,
      queue: row.status === "queued" ? queue : undefined,
      error: row.error_code === null ? undefined : { code: row.error_code, message: row.error_message ?? "" }
    })
  })
}

const decodeLatestRun = Schema.decodeUnknownSync(LatestRun)

export const toLatestRun = (row: LatestRunRow): LatestRun =>
  decodeLatestRun({
    capsuleId: row.capsule_id,
    runId: row.id,
    type: row.type,
    status: row.status,
    createdAt: row.created_at,
    ...present({ approvedAt: row.approved_at, finishedAt: row.finished_at })
  })
