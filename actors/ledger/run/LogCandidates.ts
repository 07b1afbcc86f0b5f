import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { isFinalStatus } from "../../../schema/records/RunLifecycle.ts"
import { capsuleWithEvidence } from "../../../schema/tables/CapsuleTables.ts"
import { Flag, rowShape } from "../../base/database/Table.ts"
import { logKeptReason } from "./LogRetention.ts"
import { pendingPlan, RunRow } from "./RunRow.ts"

/** Runs examined per statement. */
export const candidatesAtOnce = 100

/** The last Run examined, in order of when the logs ended. */
export interface LookedAt {
  readonly endedAt: string
  readonly id: RunId
}

const Candidate = rowShape({
  id: RunRow.columns.id,
  workspace_id: RunRow.columns.workspace_id,
  status: RunRow.columns.status,
  log_ended_at: RunRow.columns.log_ended_at,
  pending_plan: Flag,
  current_state: Flag,
  newest: Flag,
  left_over_state: Flag
})

const Removable = rowShape({
  workspace_id: WorkspaceId,
  runs: Schema.Int,
  bytes: Schema.NullOr(Schema.Int)
})

/** What may be removed from one Workspace. */
export interface RemovableLogs {
  readonly workspaceId: WorkspaceId
  readonly runs: number
  readonly bytes: number
}

export interface LogCandidates {
  /** The Runs whose logs may be removed. */
  readonly ids: ReadonlyArray<RunId>
  /** Where the next batch begins; none after the last. */
  readonly next: LookedAt | undefined
}

/** Decides which of the logs that ended before `before` may be removed, oldest first, `candidatesAtOnce` at a time. */
export const logCandidates = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  before: string,
  after: LookedAt | undefined
) {
  const evidence = sql.literal(capsuleWithEvidence("c."))
  const rows = yield* Candidate.rows(sql)`SELECT r.id, r.workspace_id, r.status, r.log_ended_at,
      CASE WHEN ${sql.literal(pendingPlan("r."))} THEN 1 ELSE 0 END AS pending_plan,
      CASE WHEN EXISTS (SELECT 1 FROM capsules c JOIN state_versions s ON s.id = c.current_state_version_id
        JOIN runs a ON a.id = s.created_by_run_id
        WHERE c.id = r.capsule_id AND ${evidence} AND (a.id = r.id OR a.plan_run_id = r.id)) THEN 1 ELSE 0 END AS current_state,
      CASE WHEN (r.capsule_id IS NOT NULL AND EXISTS (SELECT 1 FROM capsules c WHERE c.id = r.capsule_id AND ${evidence})
          AND NOT EXISTS (SELECT 1 FROM runs n WHERE n.capsule_id = r.capsule_id AND (n.created_at, n.id) > (r.created_at, r.id)))
        OR (r.capsule_id IS NULL AND r.source_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs n
          WHERE n.source_id = r.source_id AND (n.created_at, n.id) > (r.created_at, r.id))) THEN 1 ELSE 0 END AS newest,
      CASE WHEN EXISTS (SELECT 1 FROM left_over_states l WHERE l.capsule_id = r.capsule_id AND l.run_id = r.id
        AND l.state IS NOT NULL) THEN 1 ELSE 0 END AS left_over_state
    FROM runs r WHERE r.log_removed_at IS NULL AND r.log_ended_at IS NOT NULL AND r.last_log_seq > 0
      AND r.log_ended_at < ${before} AND (r.log_ended_at, r.id) > (${after?.endedAt ?? ""}, ${after?.id ?? ""})
    ORDER BY r.log_ended_at, r.id LIMIT ${candidatesAtOnce}`
  const mayGo = rows.filter(
    (row) =>
      logKeptReason(
        {
          endedAt: row.log_ended_at,
          isOver: isFinalStatus(row.status),
          isPendingPlan: row.pending_plan === 1,
          madeCurrentState: row.current_state === 1,
          isNewest: row.newest === 1,
          leftState: row.left_over_state === 1
        },
        before
      ) === undefined
  )
  const last = rows.at(-1)
  return {
    ids: mayGo.map(({ id }) => id),
    next:
      rows.length < candidatesAtOnce || last === undefined
        ? undefined
        : { endedAt: last.log_ended_at ?? "", id: last.id }
  } satisfies LogCandidates
})

/** The size of the logs of these Runs, by Workspace. */
export const sizesOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ids: ReadonlyArray<RunId>) {
  if (ids.length === 0) return []
  const rows = yield* Removable.rows(sql)`SELECT r.workspace_id, COUNT(DISTINCT r.id) AS runs, SUM(c.bytes) AS bytes
    FROM runs r LEFT JOIN run_log_chunks c ON c.run_id = r.id
    WHERE ${sql.in("r.id", ids)} GROUP BY r.workspace_id ORDER BY r.workspace_id`
  return rows.map(
    ({ bytes, runs, workspace_id }): RemovableLogs => ({ workspaceId: workspace_id, runs, bytes: bytes ?? 0 })
  )
})
