import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { CapsuleId, ProjectId, type RunId, SourceId, TeamId } from "../../../schema/records/Ids.ts"
import type { NoticeData } from "../../../schema/records/Notice.ts"
import type { NoticeKind } from "../../../schema/records/NoticeEndpoint.ts"
import { PlanSummary } from "../../../schema/records/PlanDetails.ts"
import { RunStatus, type RunType } from "../../../schema/records/Run.ts"
import { isPlan } from "../../../schema/records/RunTransitions.ts"
import { Role } from "../../../schema/records/Workspace.ts"
import { notSpeculative } from "../../../schema/tables/RunTables.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { type NoticeFacts, writeNotice } from "../../base/notice/Notices.ts"
import { RunRow } from "./RunRow.ts"

const run = RunRow.columns
const SummaryJson = jsonText(PlanSummary)

/**
 * A Run, with the names that a notice about the Run contains. `changes` is the summary of the plan, even if the Run applies
 * the plan. `carried_from` is set if approvals of the same change are carried over to the plan in the transaction that makes
 * the plan ready for review.
 */
const Reported = rowShape({
  id: run.id,
  type: run.type,
  status: RunStatus,
  workspace_id: run.workspace_id,
  trigger_kind: run.trigger_kind,
  created_by: run.created_by,
  plan_run_id: run.plan_run_id,
  plan_digest: run.plan_digest,
  resolved_commit: run.resolved_commit,
  error_code: run.error_code,
  changes: Schema.NullOr(SummaryJson),
  carried_from: Schema.NullOr(Schema.String),
  generation: Schema.NullOr(Schema.Int),
  capsule_id: Schema.NullOr(CapsuleId),
  capsule: Schema.NullOr(Schema.String),
  environment: Schema.NullOr(Schema.String),
  project_id: Schema.NullOr(ProjectId),
  source_id: Schema.NullOr(SourceId),
  source: Schema.NullOr(Schema.String)
})
type Row = RowOf<typeof Reported.columns>

/**
 * Returns `undefined` for a speculative plan, because such a plan is reported only to its pull request or to the person who
 * started it.
 */
const reported = (sql: SqlClient.SqlClient, id: RunId) =>
  Effect.map(
    Reported.rows(sql)`SELECT r.id, r.type, r.status, r.workspace_id, r.trigger_kind, r.created_by, r.plan_run_id,
      r.plan_digest, r.resolved_commit, r.error_code,
      json_extract(COALESCE(p.evidence, r.evidence), '$.planSummary') AS changes,
      json_extract(r.evidence, '$.carriedFrom.runId') AS carried_from,
      (SELECT MAX(v.generation) FROM state_versions v WHERE v.created_by_run_id = r.id) AS generation,
      c.id AS capsule_id, c.name AS capsule, c.environment, c.project_id, s.id AS source_id, s.name AS source
    FROM runs r LEFT JOIN runs p ON p.id = r.plan_run_id LEFT JOIN capsules c ON c.id = r.capsule_id
      LEFT JOIN sources s ON s.id = r.source_id WHERE r.id = ${id} AND ${sql.literal(notSpeculative("r."))}`,
    ([row]) => row
  ).pipe(Effect.orDie)

const Rule = rowShape({
  approvers: Schema.Int,
  role: Role,
  team_id: Schema.NullOr(TeamId),
  team: Schema.NullOr(Schema.String)
})

/**
 * Returns the approvals that a plan of this Capsule requires: the approvals that all matching rules require or, if no rule
 * matches, one approval by an admin.
 */
export const awaitedApprovals = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  row: Pick<Row, "workspace_id" | "project_id" | "environment">
) {
  const rules = yield* Rule.rows(sql)`SELECT a.approvers, a.role, a.team_id, t.name AS team
    FROM approval_rules a LEFT JOIN teams t ON t.id = a.team_id
    WHERE a.workspace_id = ${row.workspace_id} AND (a.project_id IS NULL OR a.project_id = ${row.project_id})
      AND (a.environment IS NULL OR a.environment = ${row.environment}) ORDER BY a.created_at, a.id`
  if (rules.length === 0) return [{ approvers: 1, role: "admin" as const }]
  return rules.map(({ approvers, role, team, team_id }) => ({
    approvers,
    role,
    ...(team_id === null || team === null ? {} : { teamId: team_id, team })
  }))
}, Effect.orDie)

const Approver = rowShape({ approver: Schema.String })

const approvers = (sql: SqlClient.SqlClient, id: RunId) =>
  Effect.map(
    Approver.rows(sql)`SELECT approver FROM run_approvals WHERE run_id = ${id} ORDER BY created_at, approver`,
    (rows) => rows.map(({ approver }) => approver)
  ).pipe(Effect.orDie)

/** Returns the Run as it appears in the data of a notice. */
export const noticeRun = (row: Pick<Row, "created_by" | "id" | "trigger_kind" | "type">) => ({
  id: row.id,
  type: row.type,
  trigger: row.trigger_kind,
  ...(row.created_by === null ? {} : { startedBy: row.created_by })
})

const capsuleOf = ({ capsule, capsule_id, environment, project_id }: Row) =>
  capsule_id === null || capsule === null || environment === null || project_id === null
    ? undefined
    : { id: capsule_id, name: capsule, environment, projectId: project_id }

const sourceOf = ({ source, source_id }: Row) =>
  source_id === null || source === null ? undefined : { id: source_id, name: source }

const planFields = (row: Row) => ({
  run: noticeRun(row),
  ...(row.changes === null ? {} : { changes: SummaryJson.read(row.changes) }),
  ...(row.plan_digest === null ? {} : { planDigest: row.plan_digest }),
  ...(row.resolved_commit === null ? {} : { commit: row.resolved_commit })
})

/** Sets the subject of a notice: the Run's Capsule, or its Source if the Run has no Capsule, or the Workspace. */
const about = <K extends NoticeKind>(row: Row, data: NoticeData<K>): NoticeFacts<K> => {
  const capsule = capsuleOf(row)
  return {
    workspaceId: row.workspace_id,
    subject:
      capsule !== undefined
        ? { kind: "capsule", id: capsule.id }
        : row.source_id === null
          ? { kind: "workspace", id: row.workspace_id }
          : { kind: "source", id: row.source_id },
    path: `runs/${row.id}`,
    capsule,
    data
  }
}

const endFields = (row: Row) => {
  const [capsule, source] = [capsuleOf(row), sourceOf(row)]
  return {
    ...(capsule === undefined ? {} : { capsule }),
    ...(source === undefined ? {} : { source }),
    run: noticeRun(row)
  }
}

const isOfModule = (type: RunType): boolean => isPlan(type) || type === "apply" || type === "destroy_apply"

/** Writes the notices about a change to a Run's status, in the transaction that makes the change. */
export const reportMove = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  id: RunId,
  type: RunType,
  to: RunStatus,
  event: string
) {
  const row = reported(sql, id)
  const ofCapsule = <K extends NoticeKind>(
    facts: (row: Row, capsule: NonNullable<ReturnType<typeof capsuleOf>>) => Effect.Effect<NoticeData<K>>
  ) =>
    Effect.flatMap(row, (found) => {
      const capsule = found === undefined ? undefined : capsuleOf(found)
      // No notice requests an approval, because this transaction has already approved the plan.
      const isDecided = to === "waiting_approval" && found?.carried_from != null
      return found === undefined || capsule === undefined || isDecided
        ? Effect.undefined
        : Effect.map(facts(found, capsule), (data) => about<K>(found, data))
    })
  if (to === "waiting_approval") {
    return yield* writeNotice(
      sql,
      "run.waiting_approval",
      ofCapsule<"run.waiting_approval">((found, capsule) =>
        Effect.map(awaitedApprovals(sql, found), (waitsFor) => ({ capsule, ...planFields(found), waitsFor }))
      )
    )
  }
  if (event === "run.approved") {
    return yield* writeNotice(
      sql,
      "run.approved",
      ofCapsule<"run.approved">((found, capsule) =>
        Effect.map(approvers(sql, id), (approvedBy) => ({ capsule, ...planFields(found), approvedBy }))
      )
    )
  }
  if (to === "succeeded" && (type === "apply" || type === "destroy_apply")) {
    return yield* writeNotice(
      sql,
      "run.applied",
      ofCapsule<"run.applied">((found, capsule) =>
        Effect.succeed({
          capsule,
          ...planFields(found),
          ...(found.plan_run_id === null ? {} : { planRunId: found.plan_run_id }),
          ...(found.generation === null ? {} : { stateGeneration: found.generation })
        })
      )
    )
  }
  // Excludes syncs, because if a ref cannot be read, a separate notice about the lane reports it.
  if (to === "failed" && type !== "source_sync") {
    const kind = type === "backup" ? "backup.failed" : "run.failed"
    return yield* writeNotice(
      sql,
      kind,
      Effect.map(row, (found) =>
        found === undefined
          ? undefined
          : about<typeof kind>(found, {
              ...endFields(found),
              ...(found.error_code === null ? {} : { code: found.error_code })
            })
      )
    )
  }
  if ((to === "cancelled" || to === "superseded" || to === "expired") && isOfModule(type)) {
    return yield* writeNotice(
      sql,
      "run.cancelled",
      Effect.map(row, (found) =>
        found === undefined
          ? undefined
          : about<"run.cancelled">(found, {
              ...endFields(found),
              status: to,
              ...(found.error_code === null ? {} : { reason: found.error_code })
            })
      )
    )
  }
})
