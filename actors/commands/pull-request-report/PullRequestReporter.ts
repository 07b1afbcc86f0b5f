import { createHash } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { Forge, type ForgeAccess, type ForgeFailure } from "../../../runner/forge/Forge.ts"
import type { ForgeRepository } from "../../../schema/records/Forge.ts"
import type { PullRequestId } from "../../../schema/records/Ids.ts"
import { DueWork } from "../../base/DueWork.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { provided } from "../../base/Provided.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { type ForgePlace, openForge } from "../../inputs/connection/ForgeConnections.ts"
import { numberOf, type PullRequestRow } from "../../ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { PullRequestReports, type PullRequestReportRow } from "../../ledger/pull-request-report/PullRequestReports.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { CommentLooks } from "./CommentLooks.ts"
import { commentOf, markerOf, statusStateOf, statusTextOf } from "./PullRequestComment.ts"
import { ReportFacts } from "./ReportFacts.ts"

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

/** All data of a report that svc writes to the forge. */
interface Written {
  readonly marker: string
  /** Absent for a merge group, or if no Capsule uses the changed files and there is nothing to comment on. */
  readonly body: string | undefined
  readonly status: Parameters<Forge["Service"]["setStatus"]>[4]
}

/**
 * Writes one comment and one status for each pull request. If a process is killed between two steps, there is at most one
 * comment, because svc searches its own comments for the marker before it creates one. This service never changes a Run.
 */
export class PullRequestReporter extends Context.Service<
  PullRequestReporter,
  {
    /** Updates the pull request's comment and status. */
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

      const writtenFor = Effect.fnUntraced(function* (row: PullRequestRow, { credential }: ForgeAccess) {
        const report = yield* facts.read(row)
        const marker = markerOf(row.id, yield* vault.mac("forge-comment", row.id))
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
      const repositoryOf = Effect.fnUntraced(function* (report: PullRequestReportRow, { access, path }: ForgePlace) {
        const { repository_id } = report
        return yield* repository_id === null
          ? forge.repository(access, path)
          : forge.repositoryWithId(access, repository_id)
      })

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

      const writeComment = Effect.fnUntraced(function* (
        report: PullRequestReportRow,
        access: ForgeAccess,
        repository: ForgeRepository,
        number: number,
        { body, marker }: Written
      ) {
        const commentId = report.comment_id
        if (body === undefined && commentId === null) return null
        const text = body ?? `No Capsule uses the files of this pull request.\n${marker}`
        if (commentId === null) return yield* createOnce(access, repository, number, marker, text)
        return yield* forge.editComment(access, repository, number, commentId, text).pipe(
          Effect.as(commentId),
          // Creates a new comment if the previous comment was deleted.
          Effect.catchIf(
            (cause: ForgeFailure) => cause.reason === "missing",
            () => createOnce(access, repository, number, marker, text)
          )
        )
      })

      const write = Effect.fnUntraced(function* (row: PullRequestRow, report: PullRequestReportRow, place: ForgePlace) {
        const { access } = place
        const written = yield* writtenFor(row, access)
        const commentDigest = digestOf(written.body ?? "")
        const commits = statusCommits(row)
        const statusDigest = digestOf(...commits, JSON.stringify(written.status))
        if (report.comment_digest === commentDigest && report.status_digest === statusDigest) return
        const repository = yield* repositoryOf(report, place)
        const number = numberOf(row)
        yield* killPoint("report.sending")
        if (report.comment_digest !== commentDigest) {
          const commentId = yield* writeComment(report, access, repository, number, written)
          yield* killPoint("report.commented")
          yield* reports.wrote(row.id, {
            comment_id: commentId,
            comment_digest: commentDigest,
            repository_id: repository.id,
            sent_at: yield* now
          })
        }
        yield* killPoint("report.noted")
        if (report.status_digest !== statusDigest) {
          for (const commit of commits) yield* forge.setStatus(access, repository, number, commit, written.status)
          yield* killPoint("report.sent")
          yield* reports.wrote(row.id, { status_digest: statusDigest, sent_at: yield* now })
        }
      })

      /**
       * Forgets the comment that another Connection wrote, because the current Connection may use a different account, which
       * cannot edit that comment.
       */
      const underConnection = Effect.fnUntraced(function* (
        report: PullRequestReportRow,
        connectionId: PullRequestReportRow["connection_id"]
      ) {
        if (report.connection_id === connectionId) return report
        const fresh = {
          connection_id: connectionId,
          repository_id: null,
          comment_id: null,
          comment_digest: null,
          status_digest: null
        }
        yield* reports.wrote(report.id, fresh)
        return { ...report, ...fresh }
      })

      const take = Effect.fn("PullRequestReporter.take")(function* (id: PullRequestId) {
        const begun = yield* reports.begin(id)
        const row = yield* pullRequests.find(id)
        const source = row === undefined ? undefined : yield* sources.find(row.source_id)
        if (begun === undefined || row === undefined || source === undefined) return
        const outcome = yield* Effect.gen(function* () {
          const place = yield* open(source)
          if (place === undefined) return
          yield* write(row, yield* underConnection(begun.row, source.forge_connection_id), place)
        }).pipe(
          Effect.as(undefined),
          Effect.catchTags({
            ForgeFailure: ({ message, reason, retryAfter }) => Effect.succeed({ code: reason, message, retryAfter }),
            ForgeConnectionUnusable: ({ message }) => Effect.succeed({ code: "connection", message })
          })
        )
        yield* outcome === undefined ? reports.served(begun) : reports.failed(begun.row, outcome)
      })

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
