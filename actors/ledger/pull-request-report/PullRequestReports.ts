import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ConnectionId, PullRequestId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type ChangesOf, type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { now } from "../../base/Identity.ts"
import { firstRow, isSamePullRequest } from "../pull-request/SamePullRequest.ts"

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
export const followedAfterMerge = Duration.days(30)
/** Minimum time between two edits of a comment, so that it is not edited for every Run. */
const spacing = Duration.seconds(10)
const longestWait = Duration.hours(1)

/**
 * Columns of a pull request that require a new report when they change. svc may report on a merge group before it has
 * assessed the commit, so the end of the assessment also requires a new report.
 */
const seenText = `p.head_commit || ' ' || p.state || ' ' || COALESCE(p.base_commit, '') || ' ' || COALESCE(p.head_snapshot_id, '')
  || ' ' || COALESCE(p.planned_commit, '') || ' ' || p.attempt || ' ' || COALESCE(p.error_code, '')
  || ' ' || COALESCE(p.merge_commit, '') || ' ' || COALESCE(p.base_branch, '') || ' ' || COALESCE(p.repository, '')
  || COALESCE(' ' || p.merge_group, '') || CASE WHEN p.merge_group IS NOT NULL AND p.due > 0 THEN ' busy' ELSE '' END`

const Due = rowShape({ id: PullRequestId, workspace_id: WorkspaceId })

const Seen = rowShape({ id: PullRequestId, seen: Schema.String, workspace_id: WorkspaceId })

/** The reasons for a report of one row of the pull request, as they were when the report began. */
interface Begun {
  readonly id: PullRequestId
  readonly due: number
  readonly seen: string
}

/** A report that has begun: the row that holds the comment, and the rows of all Sources that the report covers. */
export interface BegunReport {
  readonly row: PullRequestReportRow
  /** The reports of the other rows, which may hold a comment that svc wrote before it knew that they are one pull request. */
  readonly others: ReadonlyArray<PullRequestReportRow>
  readonly begun: ReadonlyArray<Begun>
}

/** Together with `ReportMarks.ts`, the only writer of `pull_request_reports`. */
export class PullRequestReports extends Context.Service<
  PullRequestReports,
  {
    /** The pull requests with a due report. A pull request that several Sources follow is listed once, by its first row. */
    readonly due: Effect.Effect<ReadonlyArray<{ readonly id: PullRequestId; readonly workspace_id: WorkspaceId }>>
    /**
     * Returns the reports of these rows of one pull request, first row first, and the current state of each row, which the
     * report will show.
     */
    readonly begin: (ids: ReadonlyArray<PullRequestId>) => Effect.Effect<BegunReport | undefined>
    /** Records the comment and status that were written to the forge. */
    readonly wrote: (
      id: PullRequestId,
      columns: Pick<
        ChangesOf<typeof PullRequestReportRow>,
        "comment_digest" | "comment_id" | "connection_id" | "repository_id" | "sent_at" | "status_digest"
      >
    ) => Effect.Effect<void>
    /** Requests another report. */
    readonly again: (id: PullRequestId) => Effect.Effect<void>
    /** Completes a report: clears the reasons that `begin` returned. */
    readonly served: (report: BegunReport) => Effect.Effect<void>
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
        // A Source without a forge Connection is reported by another Source of the same repository.
        return yield* Due.rows(sql)`SELECT DISTINCT d.id, d.workspace_id
          FROM (SELECT ${sql.literal(firstRow)} AS id, p.workspace_id
            FROM sources s JOIN pull_requests p ON p.source_id = s.id
            LEFT JOIN pull_request_reports r ON r.id = p.id
            WHERE s.removed_at IS NULL AND s.status <> 'disabled'
              AND (s.forge_connection_id IS NOT NULL OR EXISTS (SELECT 1 FROM pull_requests q
                JOIN sources o ON o.id = q.source_id WHERE ${sql.literal(isSamePullRequest)}
                  AND o.forge_connection_id IS NOT NULL AND o.removed_at IS NULL AND o.status <> 'disabled'))
              AND ((p.due = 0 AND p.head_snapshot_id IS NOT NULL)
                OR (p.merge_group IS NOT NULL AND (p.due = 0 OR r.id IS NULL)))
              AND (p.state = 'open' OR (p.state = 'merged' AND r.id IS NOT NULL AND p.closed_at > ${since}))
              AND (r.id IS NULL OR r.due <> r.taken OR r.seen <> ${sql.literal(seenText)})) d
          LEFT JOIN pull_request_reports l ON l.id = d.id
          WHERE COALESCE(l.next_at, '') <= ${at}
          ORDER BY d.id LIMIT 100`
      }).pipe(Effect.orDie)

      const begin = Effect.fnUntraced(function* (ids: ReadonlyArray<PullRequestId>) {
        const found = yield* Seen.rows(sql)`SELECT p.id, ${sql.literal(seenText)} AS seen, p.workspace_id
          FROM pull_requests p WHERE ${sql.in("p.id", ids)}`
        for (const { id, workspace_id } of found) {
          yield* sql`INSERT INTO pull_request_reports ${PullRequestReportRow.values(sql, { id, workspace_id, seen: "" })}
            ON CONFLICT DO NOTHING`
        }
        const rows = yield* PullRequestReportRow.rows(
          sql
        )`SELECT * FROM pull_request_reports WHERE ${sql.in("id", ids)}`
        const row = rows.find(({ id }) => id === ids[0])
        if (row === undefined) return undefined
        const begun = rows.flatMap(({ due, id }) => {
          const seen = found.find((one) => one.id === id)?.seen
          return seen === undefined ? [] : [{ id, due, seen }]
        })
        return { row, others: rows.filter((one) => one !== row), begun } satisfies BegunReport
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
        again: (id) => Effect.asVoid(Effect.orDie(sql`UPDATE pull_request_reports SET due = due + 1 WHERE id = ${id}`)),
        served: Effect.fnUntraced(function* ({ begun, row }) {
          for (const { due, id, seen } of begun) yield* change(id, { taken: due, seen })
          yield* change(row.id, {
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
