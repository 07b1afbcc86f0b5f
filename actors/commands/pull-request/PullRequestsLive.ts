import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { notFound } from "../../../schema/errors/ApiError.ts"
import type { PullRequestId } from "../../../schema/records/Ids.ts"
import type { PullRequest, PullRequestCapsule } from "../../../schema/records/PullRequest.ts"
import { RunStatus } from "../../../schema/records/Run.ts"
import { approvedChanges } from "../../access/approval/ApprovedChanges.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { type Page, pageOfRows } from "../../base/paging/RowPages.ts"
import { capsuleProgress, capsuleReports, countsOf } from "../../ledger/pull-request-report/CapsuleProgress.ts"
import { PullRequestReportRow } from "../../ledger/pull-request-report/PullRequestReports.ts"
import {
  ListedPullRequest,
  PullRequestCapsuleRow,
  PullRequestRow,
  StaticReviewJson,
  toPullRequest
} from "../../ledger/pull-request/PullRequestRow.ts"
import { firstRow } from "../../ledger/pull-request/SamePullRequest.ts"
import { PullRequests } from "../../ledger/pull-request/PullRequests.ts"

const Judged = rowShape({ ...PullRequestCapsuleRow.columns, run_status: Schema.NullOr(RunStatus) })

const toCapsule = (row: RowOf<typeof Judged.columns>): PullRequestCapsule => ({
  capsuleId: row.capsule_id,
  touched: row.touched === 1,
  ...(row.because === null ? {} : { because: row.because }),
  ...(row.run_id === null || row.run_status === null ? {} : { run: { id: row.run_id, status: row.run_status } }),
  ...(row.refusal_code === null ? {} : { refusal: { code: row.refusal_code, message: row.refusal_message ?? "" } })
})

const toReport = (
  row: Pick<PullRequestReportRow, "error_code" | "error_message" | "sent_at">
): NonNullable<PullRequest["report"]> => ({
  ...(row.sent_at === null ? {} : { writtenAt: row.sent_at }),
  ...(row.error_code === null ? {} : { error: { code: row.error_code, message: row.error_message ?? "" } })
})

export const layer = Layer.effect(
  PullRequests,
  Effect.gen(function* () {
    const sql = yield* ReadSql
    const cursors = yield* Cursors
    const progressOf = (ids: ReadonlyArray<PullRequestId>) =>
      capsuleProgress(sql, ids, (runs) => Effect.provideService(approvedChanges(runs), SqlClient.SqlClient, sql))

    const counted = Effect.fnUntraced(function* (page: Page<ListedPullRequest>) {
      const ids = page.items.map(({ id }) => id)
      const counts = countsOf(yield* progressOf(ids))
      return { ...page, items: page.items.map((row) => ({ ...toPullRequest(row), counts: counts.get(row.id) ?? {} })) }
    })

    return PullRequests.of({
      list: Effect.fn("PullRequests.list")(function* (workspaceId, { sourceId, state }, page) {
        const list = {
          route: "pullRequests.list",
          newestFirst: true,
          conditions: [
            sql`workspace_id = ${workspaceId}`,
            sql`merge_group IS NULL`,
            ...(sourceId === undefined ? [] : [sql`source_id = ${sourceId}`]),
            ...(state === undefined ? [] : [sql`state = ${state}`])
          ],
          filter: [workspaceId, sourceId, state]
        }
        const rows = yield* pageOfRows(ListedPullRequest, sql, cursors, list, page)
        return yield* counted(rows)
      }),
      ofCapsule: Effect.fn("PullRequests.ofCapsule")(function* (capsuleId, { state }, page) {
        const list = {
          route: "pullRequests.ofCapsule",
          newestFirst: true,
          conditions: [
            sql`merge_group IS NULL`,
            sql`id IN (SELECT pull_request_id FROM pull_request_capsules
              WHERE capsule_id = ${capsuleId} AND touched = 1)`,
            ...(state === undefined ? [] : [sql`state = ${state}`])
          ],
          filter: [capsuleId, state]
        }
        const rows = yield* pageOfRows(ListedPullRequest, sql, cursors, list, page)
        return yield* counted(rows)
      }),
      read: Effect.fn("PullRequests.read")(function* (id) {
        const [row] = yield* Effect.orDie(PullRequestRow.rows(sql)`SELECT * FROM pull_requests WHERE id = ${id}`)
        if (row === undefined) return yield* notFound("Pull request")
        const judged = yield* Effect.orDie(Judged.rows(sql)`SELECT c.*, r.status AS run_status
          FROM pull_request_capsules c LEFT JOIN runs r ON r.id = c.run_id
          WHERE c.pull_request_id = ${id} AND c.head_commit = ${row.head_commit} ORDER BY c.capsule_id`)
        const progress = yield* progressOf([id])
        const reports = yield* capsuleReports(sql, progress)
        const [report] = yield* Effect.orDie(
          PullRequestReportRow.some(
            sql,
            "sent_at",
            "error_code",
            "error_message"
          )`SELECT sent_at, error_code, error_message
            FROM pull_request_reports WHERE id = (SELECT ${sql.literal(firstRow)} FROM pull_requests p WHERE p.id = ${id})`
        )
        return {
          ...toPullRequest(row),
          ...(report === undefined ? {} : { report: toReport(report) }),
          ...(row.review === null ? {} : { review: StaticReviewJson.read(row.review) }),
          counts: countsOf(progress).get(id) ?? {},
          capsules: judged.map((capsule) => ({ ...toCapsule(capsule), ...reports.get(capsule.capsule_id) }))
        } satisfies PullRequest
      })
    })
  })
)
