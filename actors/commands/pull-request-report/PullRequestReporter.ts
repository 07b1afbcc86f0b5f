import { createHash } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Forge, type ForgeAccess, type ForgeFailure } from "../../../runner/forge/Forge.ts"
import type { ForgeRepository } from "../../../schema/records/Forge.ts"
import type { PullRequestId } from "../../../schema/records/Ids.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { provided } from "../../base/Provided.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { type ForgeConnectionUnusable, type ForgePlace, openForge } from "../../inputs/connection/ForgeConnections.ts"
import { numberOf, type PullRequestRow } from "../../ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { repositoryIdOf, repositoryKey, samePullRequests } from "../../ledger/pull-request/SamePullRequest.ts"
import {
  type BegunReport,
  PullRequestReports,
  type PullRequestReportRow
} from "../../ledger/pull-request-report/PullRequestReports.ts"
import { followObstacle } from "../../ledger/source/FollowedSource.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { CommentLooks } from "./CommentLooks.ts"
import { commentOf, markerOf, statusStateOf, statusTextOf } from "./PullRequestComment.ts"
import { type CoveredRow, ReportFacts } from "./ReportFacts.ts"

const digestOf = (...parts: ReadonlyArray<string>) =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url")

/** Returns the commits that get the status: the head and, after the merge, the merge commit. */
const statusCommits = ({
  head_commit,
  merge_commit,
  state
}: Pick<PullRequestRow, "head_commit" | "merge_commit" | "state">): ReadonlyArray<string> =>
  state !== "merged" || merge_commit === null || merge_commit === head_commit
    ? [head_commit]
    : [head_commit, merge_commit]

/** A Source that still exists and is not disabled, with its row of the pull request. */
interface LiveRow extends CoveredRow {
  readonly source: SourceRow
}

/** A report, and the Source that writes it. */
interface Subject {
  readonly row: PullRequestRow
  readonly source: SourceRow
  readonly rows: ReadonlyArray<CoveredRow>
  readonly report: PullRequestReportRow
  readonly others: ReadonlyArray<PullRequestReportRow>
  /** The repository, if this report has read it already. */
  readonly repository: ForgeRepository | undefined
}

interface Fault {
  readonly code: string
  readonly message: string
  readonly retryAfter?: number | undefined
}

const compared = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1)

/** Failures after which svc leaves a comment, because a repetition would fail, too, or the comment is gone. */
const unwritable: ReadonlySet<ForgeFailure["reason"]> = new Set(["unauthorized", "forbidden", "missing", "rejected"])

const isFutile = (cause: ForgeFailure | ForgeConnectionUnusable) =>
  cause._tag === "ForgeConnectionUnusable" || unwritable.has(cause.reason)

/** All data of a report that svc writes to the forge. */
interface Written {
  readonly marker: string
  /** Absent for a merge group, or if no Capsule uses the changed files and there is nothing to comment on. */
  readonly body: string | undefined
  readonly status: Parameters<Forge["Service"]["setStatus"]>[4]
}

const digestsOf = ({ row }: Subject, { body, status }: Written) => ({
  comment: digestOf(body ?? ""),
  status: digestOf(...statusCommits(row), JSON.stringify(status))
})

/** Returns true if the forge has this comment and status already. */
const isWritten = (subject: Subject, written: Written) => {
  const { comment, status } = digestsOf(subject, written)
  return subject.report.comment_digest === comment && subject.report.status_digest === status
}

/**
 * Writes one comment and one status for each pull request. If a process is killed between two steps, there is at most one
 * comment, because svc searches its own comments for the marker before it creates one. This service never changes a Run.
 */
export class PullRequestReporter extends Context.Service<
  PullRequestReporter,
  {
    /** Updates the pull request's comment and status. The id is that of its first row. */
    readonly take: (id: PullRequestId) => Effect.Effect<void>
  }
>()("svc/actors/commands/pull-request-report/PullRequestReporter") {
  static readonly layer = Layer.effect(
    PullRequestReporter,
    Effect.gen(function* () {
      const forge = yield* Forge
      const reports = yield* PullRequestReports
      const pullRequests = yield* PullRequestStore
      const sources = yield* SourceStore
      const open = yield* provided(openForge)
      const facts = yield* ReportFacts
      const vault = yield* Vault
      const killPoint = yield* KillPoint
      const sql = yield* SqlClient.SqlClient
      const work = yield* DueWork

      const markerFor = Effect.fnUntraced(function* (row: PullRequestRow, repository: string) {
        const number = numberOf(row)
        const digest = yield* vault.mac("forge-comment", `${row.workspace_id} ${repository} ${number}`)
        return markerOf(`${row.workspace_id} #${number}`, digest)
      })

      const writtenFor = Effect.fnUntraced(function* (
        { credential }: ForgeAccess,
        subject: Subject,
        repository: string
      ) {
        const { row, rows } = subject
        const report = yield* facts.read(row, rows)
        const marker = yield* markerFor(row, repository)
        const text = commentOf(report, marker)
        return {
          marker,
          body: report.capsules.length === 0 || report.mergeGroup !== undefined ? undefined : text,
          status: {
            context: `svc/${report.handle}`,
            state: statusStateOf(report),
            description: statusTextOf(report),
            url: report.url,
            // Only checks can show the text of the comment. A commit status does not contain it and is therefore not written
            // again if only the comment has changed.
            ...(credential._tag === "App" ? { summary: text } : {})
          }
        } satisfies Written
      })

      /**
       * Finds the repository by path the first time and by id afterwards, so that another repository with the same path
       * receives nothing.
       */
      const repositoryOf = ({ repository, report, row }: Subject, { access, path }: ForgePlace) => {
        if (repository !== undefined) return Effect.succeed(repository)
        const id = row.repository === null ? report.repository_id : repositoryIdOf(row.repository)
        return id === null ? forge.repository(access, path) : forge.repositoryWithId(access, id)
      }

      const createOnce = Effect.fnUntraced(function* (
        access: ForgeAccess,
        repository: ForgeRepository,
        number: number,
        marker: string,
        body: string
      ) {
        const author = yield* forge.account(access)
        const found = yield* forge.findComment(access, repository, number, marker, author)
        yield* killPoint("report.creating")
        if (found === undefined) return (yield* forge.createComment(access, repository, number, body)).id
        yield* forge.editComment(access, repository, number, found.id, body)
        return found.id
      })

      /** Deletes a comment of another Connection or report. If this is impossible, for example without rights, leaves it. */
      const removeComment = Effect.fnUntraced(
        function* (
          { row, source }: Subject,
          repository: ForgeRepository,
          comment: Pick<PullRequestReportRow, "comment_id" | "connection_id">
        ) {
          if (comment.comment_id === null) return
          const place = yield* open({ ...source, forge_connection_id: comment.connection_id })
          if (place === undefined) return
          yield* forge.deleteComment(place.access, repository, numberOf(row), comment.comment_id)
        },
        Effect.catchIf(isFutile, ({ message }) => Effect.logInfo(`A comment of svc could not be removed: ${message}`))
      )

      const writeComment = Effect.fnUntraced(function* (
        subject: Subject,
        access: ForgeAccess,
        repository: ForgeRepository,
        { body, marker }: Written
      ) {
        const { report, row, source } = subject
        const number = numberOf(row)
        const commentId = report.comment_id
        if (body === undefined && commentId === null) return null
        const text = body ?? `No Capsule uses the files of this pull request.\n${marker}`
        if (commentId === null) return yield* createOnce(access, repository, number, marker, text)
        const isOwn = report.connection_id === source.forge_connection_id
        const refusal = yield* forge.editComment(access, repository, number, commentId, text).pipe(
          Effect.as(undefined),
          // Creates a new comment if the previous comment was deleted, or if it belongs to the account of another Connection.
          Effect.catchIf(
            (cause: ForgeFailure) => cause.reason === "missing" || (!isOwn && cause.reason === "forbidden"),
            ({ reason }) => Effect.succeed(reason)
          )
        )
        if (refusal === undefined) return commentId
        const created = yield* createOnce(access, repository, number, marker, text)
        yield* killPoint("report.replacing")
        if (refusal === "forbidden") yield* removeComment(subject, repository, report)
        return created
      })

      /**
       * Finds the comment that another row's Source has written, also if the process was killed before the comment was recorded.
       */
      const commentOfOther = Effect.fnUntraced(
        function* ({ row, source }: Subject, repository: ForgeRepository, other: PullRequestReportRow) {
          const { comment_id, connection_id } = other
          if (comment_id !== null || connection_id === source.forge_connection_id) return comment_id
          const place = yield* open({ ...source, forge_connection_id: connection_id })
          if (place === undefined) return null
          const author = yield* forge.account(place.access)
          const marker = yield* markerFor(row, repositoryKey(place.access, repository.id))
          const found = yield* forge.findComment(place.access, repository, numberOf(row), marker, author)
          return found?.id ?? null
        },
        Effect.catchIf(isFutile, () => Effect.succeed(null))
      )

      /**
       * Takes over the comment that was written under another row of the pull request, before svc knew that the rows are one
       * pull request. Removes every further comment.
       */
      const adopted = Effect.fnUntraced(function* (subject: Subject, repository: ForgeRepository) {
        let { report } = subject
        for (const other of subject.others) {
          if (other.connection_id === null) continue
          const { connection_id } = other
          const comment_id = yield* commentOfOther(subject, repository, other)
          if (comment_id !== null && report.comment_id === null) {
            yield* reports.wrote(report.id, { comment_id, connection_id, comment_digest: null })
            report = { ...report, comment_id, connection_id, comment_digest: null }
          } else if (comment_id !== report.comment_id) {
            yield* removeComment(subject, repository, { comment_id, connection_id })
          }
          yield* reports.wrote(other.id, { connection_id: null, comment_id: null, comment_digest: null })
        }
        if (report.connection_id !== null) return report
        // Records who writes before the comment exists, so that it is found again if the process is killed.
        yield* reports.wrote(report.id, { connection_id: subject.source.forge_connection_id })
        return { ...report, connection_id: subject.source.forge_connection_id }
      })

      const write = Effect.fnUntraced(function* (subject: Subject, place: ForgePlace) {
        const { access } = place
        const { others, row, source } = subject
        const connectionId = source.forge_connection_id
        const isAlone = others.every(({ connection_id }) => connection_id === null)
        const isKnown = row.repository !== null && isAlone && subject.report.connection_id === connectionId
        const before = isKnown ? yield* writtenFor(access, subject, row.repository) : undefined
        if (before !== undefined && isWritten(subject, before)) return true
        const repository = yield* repositoryOf(subject, place)
        const key = repositoryKey(access, repository.id)
        if (row.repository !== key) {
          yield* pullRequests.located(row.source_id, key).pipe(transaction(sql))
          return repository
        }
        yield* killPoint("report.sending")
        const report = yield* adopted(subject, repository)
        const written = before ?? (yield* writtenFor(access, subject, key))
        const digests = digestsOf(subject, written)
        const number = numberOf(row)
        const isSame = report.connection_id === connectionId
        const comment = Effect.gen(function* () {
          if (isSame && report.comment_digest === digests.comment) return
          const commentId = yield* writeComment({ ...subject, report }, access, repository, written)
          yield* killPoint("report.commented")
          yield* reports.wrote(report.id, {
            connection_id: connectionId,
            comment_id: commentId,
            comment_digest: digests.comment,
            repository_id: repository.id,
            sent_at: yield* now,
            ...(isSame ? {} : { status_digest: null })
          })
        })
        // A token that may not comment may still set the status, on which a branch may depend.
        const refusal = yield* comment.pipe(
          Effect.as(undefined),
          Effect.catchIf(
            (cause) => cause._tag === "ForgeFailure" && cause.reason === "forbidden",
            (cause) => Effect.succeed(cause)
          )
        )
        yield* killPoint("report.noted")
        if (!isSame || report.status_digest !== digests.status) {
          for (const commit of statusCommits(row)) {
            yield* forge.setStatus(access, repository, number, commit, written.status)
            // After a merge there are two statuses, so the process may be killed between them.
            yield* killPoint("report.status")
          }
          yield* killPoint("report.sent")
          yield* reports.wrote(report.id, { status_digest: digests.status, sent_at: yield* now })
        }
        if (refusal !== undefined) return yield* refusal
        return true
      })

      /**
       * Returns the Sources that may report, the preferred one first: a Source that follows the repository, and among these the
       * oldest. Only one Source reports, so that all Capsules share one comment and one status.
       */
      const reporters = (live: ReadonlyArray<LiveRow>) =>
        live
          .filter(({ source }) => source.forge_connection_id !== null)
          .toSorted(
            (a, b) =>
              Number(b.follows) - Number(a.follows) ||
              compared(a.source.created_at, b.source.created_at) ||
              compared(a.source.id, b.source.id)
          )

      /** Writes the report by the first Source whose Connection works. Returns the reason if none does. */
      const writeBy = Effect.fnUntraced(function* (
        begun: BegunReport,
        live: ReadonlyArray<LiveRow>,
        known: ForgeRepository | undefined
      ) {
        let fault: Fault | undefined
        for (const { row, source } of reporters(live)) {
          if (row.state === "closed") return { fault: undefined, located: undefined }
          const subject = { row, source, rows: live, report: begun.row, others: begun.others, repository: known }
          const outcome = yield* Effect.gen(function* () {
            const place = yield* open(source)
            return place === undefined ? true : yield* write(subject, place)
          }).pipe(
            Effect.map((written) => ({ written, fault: undefined })),
            Effect.catchTags({
              ForgeFailure: ({ message, reason, retryAfter }) =>
                Effect.succeed({ written: reason !== "unauthorized", fault: { code: reason, message, retryAfter } }),
              ForgeConnectionUnusable: ({ message }) =>
                Effect.succeed({ written: false, fault: { code: "connection", message } })
            })
          )
          if (typeof outcome.written === "object") return { fault: undefined, located: outcome.written }
          if (outcome.written) return { fault: outcome.fault, located: undefined }
          fault ??= outcome.fault
        }
        return { fault, located: undefined }
      })

      const liveOf = Effect.fnUntraced(function* (rows: ReadonlyArray<PullRequestRow>) {
        const found = yield* Effect.forEach(rows, (row) =>
          Effect.map(sources.find(row.source_id), (source) => ({ row, source }))
        )
        return found.flatMap(({ row, source }): ReadonlyArray<LiveRow> => {
          if (source === undefined || followObstacle(source, "user") !== undefined) return []
          const follows = followObstacle(source, "schedule") === undefined && source.pull_requests !== "off"
          return [{ row, source, follows }]
        })
      })

      const report = Effect.fnUntraced(function* (
        id: PullRequestId,
        known: ForgeRepository | undefined
      ): Effect.fn.Return<void> {
        const rows = yield* samePullRequests(sql, id)
        // Another row holds the comment, and its report is due, too.
        if (rows[0]?.id !== id) return yield* work.wake
        const begun = yield* reports.begin(rows.map((row) => row.id))
        if (begun === undefined) return
        const { fault, located } = yield* writeBy(begun, yield* liveOf(rows), known)
        if (located !== undefined) return yield* report(id, located)
        yield* fault === undefined ? reports.served(begun) : reports.failed(begun.row, fault)
        // If svc has found meanwhile that this is the same pull request as another, the other's report adopts the comment.
        const [first] = yield* samePullRequests(sql, id)
        if (first !== undefined && first.id !== id) yield* reports.again(first.id)
      })

      const take = Effect.fn("PullRequestReporter.take")((id: PullRequestId) => report(id, undefined))

      return PullRequestReporter.of({ take })
    })
  )
}

/**
 * Updates the report of every changed pull request, and reads the comments of each Source. Each step updates the report of
 * one pull request.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const due = yield* DueWork
    const reports = yield* PullRequestReports
    const { take } = yield* PullRequestReporter
    const comments = yield* CommentLooks
    yield* due.serve({ kind: "pull_request_report", due: reports.due, step: ({ id }) => take(id) })
    yield* due.serve({ kind: "pull_request_comments", due: comments.due, step: comments.take })
  })
)
