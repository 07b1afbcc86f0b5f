import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ConnectionId, PullRequestId, type RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type ChangesOf, type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { now } from "../../base/Identity.ts"

/** The comment and the status that svc last wrote for each pull request on its forge. */
export const PullRequestReportRow = table(
  "pull_request_reports",
  {
    id: PullRequestId,
    workspace_id: WorkspaceId,
    due: Schema.Int,
    taken: Schema.Int,
    /** The state of the pull request that the last report showed. */
    seen: Schema.String,
    /** Earliest time of the next report. */
    next_at: Schema.NullOr(Timestamp),
    failures: Schema.Int,
    connection_id: Schema.NullOr(ConnectionId),
    repository_id: Schema.NullOr(Schema.String),
    comment_id: Schema.NullOr(Schema.String),
    comment_digest: Schema.NullOr(Schema.String),
    status_digest: Schema.NullOr(Schema.String),
    sent_at: Schema.NullOr(Timestamp),
    error_code: Schema.NullOr(Schema.String),
    error_message: Schema.NullOr(Schema.String)
  },
  ["due", "taken", "failures"]
)
export type PullRequestReportRow = RowOf<typeof PullRequestReportRow.columns>

/** Time after the merge during which a pull request's comment is updated with the lane's Runs. */
const followedAfterMerge = Duration.days(30)
/** Minimum time between two edits of a comment, so that it is not edited for every Run. */
const spacing = Duration.seconds(10)
const longestWait = Duration.hours(1)

/**
 * Columns of a pull request that require a new report when they change. svc may report on a merge group before it has
 * assessed the commit, so the end of the assessment also requires a new report.
 */
const seenText = `p.head_commit || ' ' || p.state || ' ' || COALESCE(p.base_commit, '') || ' ' || COALESCE(p.head_snapshot_id, '')
  || ' ' || COALESCE(p.planned_commit, '') || ' ' || p.attempt || ' ' || COALESCE(p.error_code, '')
  || COALESCE(' ' || p.merge_group, '') || CASE WHEN p.merge_group IS NOT NULL AND p.due > 0 THEN ' busy' ELSE '' END`

/**
 * Marks the reports that show this Run: the report of its pull request, and the reports of merged pull requests and of merge groups
 * that affect its Capsule. Call it in the transaction that changes the Run.
 */
export const markReports = (sql: SqlClient.SqlClient, runId: RunId) =>
  Effect.orDie(sql`UPDATE pull_request_reports SET due = due + 1 WHERE id IN (
    SELECT coordinator_id FROM runs WHERE id = ${runId} AND coordinator_kind = 'pull_request'
    UNION SELECT c.pull_request_id FROM runs r JOIN pull_request_capsules c ON c.capsule_id = r.capsule_id
      JOIN pull_requests p ON p.id = c.pull_request_id
        AND (p.state = 'merged' OR (p.state = 'open' AND p.merge_group IS NOT NULL))
      WHERE r.id = ${runId} AND c.touched = 1)`)

const Due = rowShape({ id: PullRequestId, workspace_id: WorkspaceId })

const Seen = rowShape({ seen: Schema.String, workspace_id: WorkspaceId })

/** Together with `markReports`, the only writer of `pull_request_reports`. */
export class PullRequestReports extends Context.Service<
  PullRequestReports,
  {
    /** The pull requests with a due report. */
    readonly due: Effect.Effect<ReadonlyArray<{ readonly id: PullRequestId; readonly workspace_id: WorkspaceId }>>
    /** Returns the report, and the current state of the pull request, which the report will show. */
    readonly begin: (
      id: PullRequestId
    ) => Effect.Effect<{ readonly row: PullRequestReportRow; readonly seen: string } | undefined>
    /** Records the comment and status that were written to the forge. */
    readonly wrote: (
      id: PullRequestId,
      columns: Pick<
        ChangesOf<typeof PullRequestReportRow>,
        "comment_digest" | "comment_id" | "connection_id" | "repository_id" | "sent_at" | "status_digest"
      >
    ) => Effect.Effect<void>
    /** Completes a report: clears the reasons that `begin` returned. */
    readonly served: (begun: { readonly row: PullRequestReportRow; readonly seen: string }) => Effect.Effect<void>
    /** Records a failure. Repeats the report after `retryAfter` seconds or, if absent, with increasing delays. */
    readonly failed: (
      row: PullRequestReportRow,
      error: { readonly code: string; readonly message: string; readonly retryAfter?: number | undefined }
    ) => Effect.Effect<void>
  }
>()("svc/actors/ledger/pull-request-report/PullRequestReports") {
  static readonly layer = Layer.effect(
    PullRequestReports,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const later = (wait: Duration.Duration) =>
        Effect.map(Clock.currentTimeMillis, (at) => new Date(at + Duration.toMillis(wait)).toISOString())

      const due = Effect.gen(function* () {
        const at = yield* now
        const since = yield* later(Duration.negate(followedAfterMerge))
        return yield* Due.rows(sql)`SELECT p.id, p.workspace_id
          FROM sources s JOIN pull_requests p ON p.source_id = s.id
          LEFT JOIN pull_request_reports r ON r.id = p.id
          WHERE s.forge_connection_id IS NOT NULL AND s.removed_at IS NULL AND s.status <> 'disabled'
            AND ((p.due = 0 AND p.head_snapshot_id IS NOT NULL)
              OR (p.merge_group IS NOT NULL AND (p.due = 0 OR r.id IS NULL)))
            AND (p.state = 'open' OR (p.state = 'merged' AND r.id IS NOT NULL AND p.closed_at > ${since}))
            AND (r.id IS NULL OR r.due <> r.taken OR r.seen <> ${sql.literal(seenText)})
            AND COALESCE(r.next_at, '') <= ${at}
          ORDER BY p.id LIMIT 100`
      }).pipe(Effect.orDie)

      const begin = Effect.fnUntraced(function* (id: PullRequestId) {
        const [found] = yield* Seen.rows(sql)`SELECT ${sql.literal(seenText)} AS seen, p.workspace_id
          FROM pull_requests p WHERE p.id = ${id}`
        if (found === undefined) return undefined
        const { seen, workspace_id } = found
        yield* sql`INSERT INTO pull_request_reports ${PullRequestReportRow.values(sql, { id, workspace_id, seen: "" })}
          ON CONFLICT DO NOTHING`
        const [row] = yield* PullRequestReportRow.rows(sql)`SELECT * FROM pull_request_reports WHERE id = ${id}`
        return row === undefined ? undefined : { row, seen }
      }, Effect.orDie)

      const change = (id: PullRequestId, columns: ChangesOf<typeof PullRequestReportRow>) =>
        Effect.asVoid(
          Effect.orDie(
            sql`UPDATE pull_request_reports SET ${PullRequestReportRow.changes(sql, columns)} WHERE id = ${id}`
          )
        )

      return PullRequestReports.of({
        due,
        begin,
        wrote: change,
        served: Effect.fnUntraced(function* ({ row, seen }) {
          yield* change(row.id, {
            taken: row.due,
            seen,
            failures: 0,
            error_code: null,
            error_message: null,
            next_at: yield* later(spacing)
          })
        }),
        failed: Effect.fnUntraced(function* (row, { code, message, retryAfter }) {
          const wait =
            retryAfter === undefined
              ? Duration.min(longestWait, Duration.seconds(30 * 2 ** Math.min(row.failures, 10)))
              : Duration.seconds(retryAfter)
          yield* change(row.id, {
            failures: row.failures + 1,
            error_code: code,
            error_message: message,
            next_at: yield* later(wait)
          })
        })
      })
    })
  )
}
