import { Effect, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import { FoldedRun } from "../../../schema/records/Run.ts"
import { notSpeculative, speculative } from "../../../schema/tables/RunTables.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import type { RunFilter } from "./RunFilter.ts"
import { present, RunRow } from "./RunRow.ts"

// A change groups a plan with the syncs and checks of its snapshot, the plans it replaced, and its apply.

const plans = "('plan', 'destroy_plan')"
const applies = "('apply', 'destroy_apply')"
const findings = "('source_sync', 'compatibility_check')"
/**
 * SQL condition for plans of a commit that a sync found. Excludes rollbacks and drift plans, which no sync triggers.
 */
const followsCommit = `p.type = 'plan' AND (p.purpose IS NULL OR ${speculative("p.")})`

/**
 * SQL condition for plans that replace each other. Excludes speculative plans, which do not replace other plans of their
 * Capsule.
 */
const replaces = (of: string) => `${of}type IN ${plans} AND ${notSpeculative(of)}`

/** SQL condition on `runs` that selects one Run per change: its plan, or a Run that belongs to no plan. */
export const standsForChange = `NOT (type IN ${applies} AND EXISTS (SELECT 1 FROM runs p WHERE p.id = runs.plan_run_id))
  AND NOT (type IN ${findings} AND status = 'succeeded' AND EXISTS (SELECT 1 FROM runs p
    WHERE p.source_snapshot_id = runs.source_snapshot_id AND p.workspace_id = runs.workspace_id AND ${followsCommit}))
  AND NOT (${replaces("runs.")} AND status = 'superseded' AND EXISTS (SELECT 1 FROM runs p
    WHERE p.capsule_id = runs.capsule_id AND ${replaces("p.")} AND p.status <> 'superseded'
      AND (p.created_at, p.id) > (runs.created_at, runs.id)))`

/** Returns true if the filter can be applied to whole changes, not only to single Runs. */
export const fitsChanges = (filter: RunFilter): boolean =>
  filter.search === undefined &&
  filter.actor === undefined &&
  filter.type === undefined &&
  filter.status === undefined &&
  filter.trigger === undefined &&
  filter.includeLooks !== true

const foldedColumns = Struct.pick(RunRow.columns, [
  "id",
  "type",
  "status",
  "created_by",
  "trigger_kind",
  "created_at",
  "started_at",
  "finished_at"
])
const FoldedRow = rowShape({ change_id: RunId, ...foldedColumns })

const decodeFolded = storedRecord(FoldedRun)
const toFolded = (row: RowOf<typeof FoldedRow.columns>): FoldedRun =>
  decodeFolded({
    planRunId: row.change_id,
    id: row.id,
    type: row.type,
    status: row.status,
    trigger: row.trigger_kind,
    createdAt: row.created_at,
    ...present({ createdBy: row.created_by, startedAt: row.started_at, finishedAt: row.finished_at })
  })

/** Maximum number of Runs to return for each page of changes. Exceeded only after an extreme number of syncs. */
const mostFolded = 1000

/** Returns, in one statement, the Runs that belong to these changes, newest first. */
export const foldedRuns = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, changes: ReadonlyArray<RunId>) {
  if (changes.length === 0) return []
  const wanted = sql`json_each(${JSON.stringify(changes)}) AS w JOIN runs p ON p.id = w.value`
  const columns = sql.literal(
    `p.id AS change_id, ${Object.keys(foldedColumns)
      .map((name) => `r.${name}`)
      .join(", ")}`
  )
  const rows = yield* Effect.orDie(FoldedRow.rows(sql)`SELECT * FROM (
    SELECT ${columns} FROM ${wanted} JOIN runs r ON r.plan_run_id = p.id
      WHERE p.type IN ${sql.literal(plans)} AND r.type IN ${sql.literal(applies)}
    UNION ALL SELECT ${columns} FROM ${wanted} JOIN runs r ON r.source_snapshot_id = p.source_snapshot_id
      WHERE ${sql.literal(followsCommit)} AND r.workspace_id = p.workspace_id AND r.type IN ${sql.literal(findings)}
        AND r.status = 'succeeded' AND r.quiet = 0
    UNION ALL SELECT ${columns} FROM ${wanted} JOIN runs r ON r.capsule_id = p.capsule_id
      WHERE ${sql.literal(replaces("p."))} AND p.status <> 'superseded'
        AND ${sql.literal(replaces("r."))} AND r.status = 'superseded'
        AND (r.created_at, r.id) < (p.created_at, p.id)
        AND (r.created_at, r.id) > (COALESCE((SELECT q.created_at FROM runs q
          WHERE q.capsule_id = p.capsule_id AND ${sql.literal(replaces("q."))} AND q.status <> 'superseded'
            AND (q.created_at, q.id) < (p.created_at, p.id) ORDER BY q.created_at DESC, q.id DESC LIMIT 1), ''), '')
    ) AS folded ORDER BY created_at DESC, id DESC LIMIT ${mostFolded}`)
  return rows.map(toFolded)
})
