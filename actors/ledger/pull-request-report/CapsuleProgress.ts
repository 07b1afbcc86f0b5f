import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { CapsuleId, type PullRequestId, type RunId } from "../../../schema/records/Ids.ts"
import { PlanBase } from "../../../schema/records/PlanBase.ts"
import { changesSomething, PlanSummary } from "../../../schema/records/PlanDetails.ts"
import type { CapsuleVerdict, PullRequestCapsule, PullRequestCounts } from "../../../schema/records/PullRequest.ts"
import { RunStatus } from "../../../schema/records/Run.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { CapsuleRow } from "../capsule/CapsuleRow.ts"
import { PullRequestCapsuleRow } from "../pull-request/PullRequestRow.ts"
import { awaitedApprovals } from "../run/RunNotices.ts"
import { PlanDetailsJson, RunRow } from "../run/RunRow.ts"
import { capsuleVerdict, risksOf, undoneBy } from "./ReportedState.ts"

const SummaryJson = jsonText(PlanSummary)
const BaseJson = jsonText(PlanBase)

/**
 * Selects the lane's plan after the merge of `p` for the Capsule of `j`: the plan of the merge commit or, if there is none,
 * the newest plan created since the merge.
 */
export const planAfterMerge = `(SELECT l.id FROM runs l
  WHERE p.state = 'merged' AND l.capsule_id = j.capsule_id AND l.type = 'plan' AND l.purpose IS NULL
    AND (l.resolved_commit = COALESCE(p.merge_commit, '') OR l.created_at >= COALESCE(p.closed_at, p.created_at))
  ORDER BY CASE WHEN l.resolved_commit = COALESCE(p.merge_commit, '') THEN 0 ELSE 1 END, l.created_at DESC, l.id DESC
  LIMIT 1)`

const { id: runId } = RunRow.columns
const Progress = rowShape({
  ...PullRequestCapsuleRow.columns,
  capsule_id: CapsuleId,
  state: Schema.String,
  workspace_id: CapsuleRow.columns.workspace_id,
  project_id: CapsuleRow.columns.project_id,
  environment: CapsuleRow.columns.environment,
  status: Schema.NullOr(RunStatus),
  summary: Schema.NullOr(SummaryJson),
  base: Schema.NullOr(BaseJson),
  plan_id: Schema.NullOr(runId),
  plan_status: Schema.NullOr(RunStatus),
  plan_summary: Schema.NullOr(SummaryJson),
  differs_from: Schema.NullOr(Schema.String),
  apply_id: Schema.NullOr(runId),
  apply_status: Schema.NullOr(RunStatus)
})
type Progress = RowOf<typeof Progress.columns>

const Details = rowShape({ id: runId, plan_details: RunRow.columns.plan_details })

const changedObjects = (summary: Progress["summary"]): number =>
  summary === null ? 0 : Object.values(SummaryJson.read(summary)).reduce((sum, count) => sum + count, 0)

/** A Capsule that the current head of a pull request affects, and the verdict on the Capsule's plans. */
interface CapsuleProgress {
  readonly pullRequestId: PullRequestId
  readonly row: Progress
  readonly verdict: CapsuleVerdict
}

const detailsOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ids: ReadonlyArray<RunId>) {
  const rows =
    ids.length === 0
      ? []
      : yield* Details.rowsOnce(sql)`SELECT id, plan_details FROM runs WHERE ${sql.in("id", [...new Set(ids)])}`
  return new Map(rows.map(({ id, plan_details }) => [id, PlanDetailsJson.read(plan_details)]))
})

/** Returns those of the speculative plans whose change is approved by the rules of now. */
type ApprovedAmong = (ids: ReadonlyArray<RunId>) => Effect.Effect<ReadonlySet<RunId>>

/** Reads the progress of all Capsules that the current heads of these pull requests affect. */
export const capsuleProgress = Effect.fn("capsuleProgress")(function* (
  sql: SqlClient.SqlClient,
  pullRequestIds: ReadonlyArray<PullRequestId>,
  approvedAmong: ApprovedAmong
) {
  if (pullRequestIds.length === 0) return []
  const rows = yield* Progress.rowsOnce(sql)`SELECT j.*, p.state, c.workspace_id, c.project_id, c.environment, s.status,
      json_extract(s.evidence, '$.planSummary') AS summary, json_extract(s.evidence, '$.base') AS base,
      m.id AS plan_id, m.status AS plan_status, json_extract(m.evidence, '$.planSummary') AS plan_summary,
      json_extract(m.plan_details, '$.differsFrom.runId') AS differs_from, a.id AS apply_id, a.status AS apply_status
    FROM pull_request_capsules j JOIN pull_requests p ON p.id = j.pull_request_id AND p.head_commit = j.head_commit
      JOIN capsules c ON c.id = j.capsule_id LEFT JOIN runs s ON s.id = j.run_id
      LEFT JOIN runs m ON m.id = ${sql.literal(planAfterMerge)}
      LEFT JOIN runs a ON a.id = (SELECT b.id FROM runs b WHERE b.plan_run_id = m.id AND b.type = 'apply'
        ORDER BY b.created_at DESC, b.id DESC LIMIT 1)
    WHERE ${sql.in("j.pull_request_id", pullRequestIds)} AND j.touched = 1 ORDER BY j.pull_request_id, j.capsule_id`
  const approved = yield* approvedAmong(rows.flatMap(({ run_id, state }) => (state === "merged" ? [] : (run_id ?? []))))
  // Reads the details of plans that change no object, because such plans may still change Outputs or addresses. Their
  // details are small.
  const unclear = rows.flatMap(({ plan_id, plan_summary, run_id, summary }) => [
    ...(run_id !== null && changedObjects(summary) === 0 ? [run_id] : []),
    ...(plan_id !== null && changedObjects(plan_summary) === 0 ? [plan_id] : [])
  ])
  const details = yield* detailsOf(sql, unclear)
  const changes = (id: RunId | null, summary: Progress["summary"]): boolean =>
    changedObjects(summary) > 0 || (id !== null && changesSomething(details.get(id) ?? {}))
  return rows.map(
    (row): CapsuleProgress => ({
      pullRequestId: row.pull_request_id,
      row,
      verdict: capsuleVerdict({
        speculative:
          row.status === null ? undefined : { status: row.status, changes: changes(row.run_id, row.summary) },
        isRefused: row.refusal_message !== null,
        isApproved: row.run_id !== null && approved.has(row.run_id),
        isMerged: row.state === "merged",
        plan:
          row.plan_status === null
            ? undefined
            : {
                status: row.plan_status,
                changes: changes(row.plan_id, row.plan_summary),
                differs: row.differs_from !== null
              },
        apply: row.apply_status ?? undefined
      })
    })
  )
}, Effect.orDie)

/**
 * Returns true if the speculative plan would undo newer files of the base. svc never carries over approvals of such a plan.
 */
export const isStale = ({ row: { base } }: CapsuleProgress): boolean =>
  base !== null && BaseJson.read(base).standing === "stale"

/** Counts the verdicts for each pull request. */
export const countsOf = (progress: ReadonlyArray<CapsuleProgress>): ReadonlyMap<PullRequestId, PullRequestCounts> => {
  const found = new Map<PullRequestId, Partial<Record<CapsuleVerdict, number>>>()
  for (const { pullRequestId, verdict } of progress) {
    const counts = found.get(pullRequestId) ?? {}
    found.set(pullRequestId, { ...counts, [verdict]: (counts[verdict] ?? 0) + 1 })
  }
  return found
}

const awaiting: ReadonlySet<CapsuleVerdict> = new Set(["planned", "needs_approval", "differs"])

/** Returns a key for a Project and environment. All Capsules with the same key require the same approvals. */
const placeOf = ({ environment, project_id }: Progress): string => `${project_id} ${environment}`

/** Returns the data that one pull request's page shows about Capsules. Reads plans, which may be large. */
export const capsuleReports = Effect.fn("capsuleReports")(function* (
  sql: SqlClient.SqlClient,
  progress: ReadonlyArray<CapsuleProgress>
) {
  const details = yield* detailsOf(
    sql,
    progress.flatMap(({ row }) => row.plan_id ?? row.run_id ?? [])
  )
  const places = new Map(
    progress.flatMap(({ row, verdict }) => (awaiting.has(verdict) ? [[placeOf(row), row] as const] : []))
  )
  const rules = new Map(
    yield* Effect.forEach(places, ([place, row]) =>
      Effect.map(awaitedApprovals(sql, row), (found) => [place, found] as const)
    )
  )
  const reports = new Map<CapsuleId, Partial<PullRequestCapsule>>()
  for (const { row, verdict } of progress) {
    const shown = row.plan_id ?? row.run_id
    const summary = row.plan_id === null ? row.summary : row.plan_summary
    const { resourceChanges = [] } = (shown === null ? undefined : details.get(shown)) ?? {}
    const base = row.plan_id === null && row.base !== null ? BaseJson.read(row.base) : undefined
    const risks = [...undoneBy(base), ...risksOf(resourceChanges)]
    reports.set(row.capsule_id, {
      verdict,
      ...(summary === null ? {} : { summary: SummaryJson.read(summary) }),
      ...(risks.length === 0 ? {} : { risks }),
      ...(base?.behind === undefined ? {} : { behind: base.behind }),
      ...(row.plan_id === null || row.plan_status === null
        ? {}
        : { plan: { id: row.plan_id, status: row.plan_status } }),
      ...(row.apply_id === null || row.apply_status === null
        ? {}
        : { apply: { id: row.apply_id, status: row.apply_status } }),
      ...(awaiting.has(verdict) ? { awaits: rules.get(placeOf(row)) ?? [] } : {})
    })
  }
  return reports
}, Effect.orDie)
