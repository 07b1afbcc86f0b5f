import { Effect, Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import { notSpeculative } from "../../../schema/tables/RunTables.ts"
import type { RunId, SourceSnapshotId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { ApprovalRequestRow } from "../../access/approval/ApprovalRequests.ts"
import { OrphanedStateRow } from "../../ledger/state/OrphanedStates.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { RunGroupMemberRow, RunGroupRow } from "../../running/run-group/RunGroupRow.ts"
import { SnapshotRow } from "../../ledger/source/SourceRow.ts"
import { StoredWorkspace } from "../../ledger/workspace/StoredWorkspace.ts"

/**
 * Maximum number of Capsules to read. The limit far exceeds the size of real Workspaces; if it is reached, the response is
 * marked as incomplete.
 */
export const mostCapsules = 5000
/** Maximum number of plans to read, which is more than a person can review. */
const mostPlans = 1000

const run = RunRow.columns

/** A Capsule in use, with its newest Run that affects infrastructure. */
const StandingRow = rowShape({
  ...Struct.pick(CapsuleRow.columns, [
    "id",
    "name",
    "environment",
    "status",
    "runtime_safety",
    "drift_status",
    "drift_checked_at",
    "stale_reasons",
    "credential_wait",
    "pinned_commit",
    "current_state_version_id",
    "updated_at"
  ]),
  run_id: Schema.NullOr(run.id),
  run_type: Schema.NullOr(run.type),
  run_status: Schema.NullOr(run.status),
  run_at: Schema.NullOr(run.created_at),
  drift_run_id: Schema.NullOr(run.id),
  /** Time at which the oldest left-over state was stored. */
  left_over_at: Schema.NullOr(OrphanedStateRow.columns.created_at)
})
export type StandingRow = RowOf<typeof StandingRow.columns>

export const standingRows = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) =>
  StandingRow.rows(
    sql
  )`SELECT c.id, c.name, c.environment, c.status, c.runtime_safety, c.drift_status, c.drift_checked_at,
      c.stale_reasons, c.credential_wait, c.pinned_commit, c.current_state_version_id, c.updated_at,
      r.id AS run_id, r.type AS run_type, r.status AS run_status, COALESCE(r.finished_at, r.created_at) AS run_at,
      CASE WHEN c.drift_status = 'drifted' THEN (SELECT id FROM runs WHERE capsule_id = c.id AND type = 'drift_check'
        AND status = 'succeeded' ORDER BY created_at DESC, id DESC LIMIT 1) END AS drift_run_id,
      (SELECT MIN(created_at) FROM left_over_states WHERE capsule_id = c.id AND adopted_at IS NULL
        AND discarded_at IS NULL) AS left_over_at
    FROM capsules c LEFT JOIN runs r ON r.id = (SELECT id FROM runs WHERE capsule_id = c.id
      AND ${sql.literal(notSpeculative())} AND type IN ('plan', 'apply', 'destroy_plan', 'destroy_apply', 'drift_check', 'restore')
      ORDER BY created_at DESC, id DESC LIMIT 1)
    WHERE c.workspace_id = ${workspaceId} AND c.status NOT IN ('destroyed', 'released')
    ORDER BY c.created_at, c.id LIMIT ${mostCapsules + 1}`.pipe(Effect.orDie)

const CapsuleWithOrphanedState = rowShape({
  ...Struct.pick(CapsuleRow.columns, ["id", "name"]),
  run_id: run.id,
  at: OrphanedStateRow.columns.created_at
})
export type CapsuleWithOrphanedState = RowOf<typeof CapsuleWithOrphanedState.columns>

/**
 * Selects Capsules with a left-over state that nobody has adopted or discarded, and for each Capsule the oldest such state;
 * the newest come first.
 */
export const capsulesWithOrphanedStates = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) =>
  CapsuleWithOrphanedState.rows(sql)`SELECT c.id, c.name, l.run_id, l.created_at AS at
    FROM capsules c JOIN left_over_states l ON l.id = (SELECT id FROM left_over_states WHERE capsule_id = c.id
      AND adopted_at IS NULL AND discarded_at IS NULL ORDER BY created_at, id LIMIT 1)
    WHERE c.workspace_id = ${workspaceId} AND c.status NOT IN ('destroyed', 'released')
    ORDER BY l.created_at DESC, c.id LIMIT ${mostPlans}`.pipe(Effect.orDie)

const PlanRow = rowShape({
  ...Struct.pick(run, ["id", "capsule_id", "type", "approved_at"]),
  at: run.created_at
})
export type PlanRow = RowOf<typeof PlanRow.columns>

export const waitingPlans = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) =>
  PlanRow.rows(sql)`SELECT id, capsule_id, type, approved_at, COALESCE(finished_at, created_at) AS at FROM runs
    WHERE status = 'waiting_approval' AND workspace_id = ${workspaceId}
    ORDER BY queued_at DESC, id LIMIT ${mostPlans}`.pipe(Effect.orDie)

export const approvedPlans = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) =>
  PlanRow.rows(sql)`SELECT id, capsule_id, type, approved_at, approved_at AS at FROM runs
    WHERE workspace_id = ${workspaceId} AND type IN ('plan', 'destroy_plan', 'restore') AND status = 'succeeded'
      AND approved_at IS NOT NULL AND used_by_run_id IS NULL ORDER BY approved_at DESC, id LIMIT ${mostPlans}`.pipe(
    Effect.orDie
  )

/** Returns the open updates of the Workspace, each with the Capsules that it still has to update. */
export const openUpdates = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) {
  const groups = yield* RunGroupRow.some(sql, "id", "created_at", "held_reason")`SELECT id, created_at, held_reason
    FROM run_groups WHERE workspace_id = ${workspaceId} AND type = 'update' AND finished_at IS NULL
      AND cancelled_at IS NULL ORDER BY created_at, id LIMIT 50`
  if (groups.length === 0) return []
  const members = yield* RunGroupMemberRow.some(sql, "group_id", "capsule_id")`SELECT group_id, capsule_id
    FROM run_group_members WHERE decision IS NULL AND ${sql.in(
      "group_id",
      groups.map(({ id }) => id)
    )}`
  return groups.map((group) => ({
    ...group,
    capsules: members.flatMap(({ capsule_id, group_id }) => (group_id === group.id ? [capsule_id] : []))
  }))
}, Effect.orDie)
export type OpenUpdate = Effect.Success<ReturnType<typeof openUpdates>>[number]

/** Returns the commits of these snapshots. */
export const commitsOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  snapshots: ReadonlyArray<SourceSnapshotId>
) {
  const ids = [...new Set(snapshots)]
  const rows =
    ids.length === 0
      ? []
      : yield* SnapshotRow.some(
          sql,
          "id",
          "source_id",
          "resolved_commit",
          "commit_description",
          "created_at"
        )`SELECT id,
          source_id, resolved_commit, commit_description, created_at FROM source_snapshots WHERE ${sql.in("id", ids)}`
  return new Map(rows.map((row) => [row.id, row]))
}, Effect.orDie)
export type SnapshotCommit = Pick<
  SnapshotRow,
  "id" | "source_id" | "resolved_commit" | "commit_description" | "created_at"
>

const ShownRunRow = rowShape({
  ...Struct.pick(run, [
    "id",
    "type",
    "source_snapshot_id",
    "resolved_commit",
    "error_code",
    "error_message",
    "plan_digest"
  ]),
  plan_summary: Schema.NullOr(Schema.String),
  asked_by: Schema.NullOr(ApprovalRequestRow.columns.subject),
  asked_at: Schema.NullOr(ApprovalRequestRow.columns.created_at),
  drifted: Schema.Int
})
export type ShownRunRow = RowOf<typeof ShownRunRow.columns>

/** Returns the Run fields that entries show, but not the rest of their evidence. */
export const shownRuns = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ids: ReadonlyArray<RunId>) {
  const rows =
    ids.length === 0
      ? []
      : yield* ShownRunRow.rows(
          sql
        )`SELECT id, type, source_snapshot_id, resolved_commit, error_code, error_message, plan_digest,
          a.subject AS asked_by, a.created_at AS asked_at,
          json_extract(evidence, '$.planSummary') AS plan_summary,
          CAST(COALESCE(json_extract(evidence, '$.driftedResources'), '0') AS INTEGER) AS drifted
          FROM runs LEFT JOIN run_approval_requests a ON a.run_id = runs.id WHERE ${sql.in("id", ids)}`
  return new Map(rows.map((row) => [row.id, row]))
}, Effect.orDie)

export const pausedAt = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) {
  const [row] = yield* StoredWorkspace.some(
    sql,
    "automation_paused_at"
  )`SELECT automation_paused_at FROM workspaces WHERE id = ${workspaceId}`
  return row?.automation_paused_at ?? undefined
}, Effect.orDie)
