import { randomBytes } from "node:crypto"
import { Clock, Duration, Effect, Layer, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import type { GitError } from "../../../runner/git/GitError.ts"
import { makeRemoteRevisions } from "../../inputs/git/RemoteRevisions.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { SourceId, type SourceSnapshotId } from "../../../schema/records/Ids.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId } from "../../base/Identity.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { pageOfRows } from "../../base/paging/RowPages.ts"
import { DueWork } from "../../base/DueWork.ts"
import { PullRequestLookRow, toPullRequestLook } from "../../ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { awaitRun, RunJournal } from "../../ledger/run/RunJournal.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { toRun } from "../../ledger/run/RunRow.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { cleanUpSnapshots } from "../../ledger/source/SnapshotCleanup.ts"
import { SnapshotReads } from "../../ledger/source/SnapshotReads.ts"
import { DeferredSyncs } from "../../ledger/source/DeferredSyncs.ts"
import { followObstacle } from "../../ledger/source/FollowedSource.ts"
import { failingLanes, projectLanes, SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { provenSecret } from "../../ledger/source/WebhookSignature.ts"
import type { DeliveryVerdict } from "../../../schema/records/Source.ts"
import { SourceStore, toReport, toSnapshot, toSource } from "../../ledger/source/SourceStore.ts"
import { Sources } from "../../ledger/source/Sources.ts"
import { ListedSnapshot, ListedSource, ReportRow, SnapshotRow, SourceRow } from "../../ledger/source/SourceRow.ts"

const hookContext: CommandContext = { actor: { kind: "webhook" }, actorKey: "webhook" }
/** Secret to compare with if the Source does not exist, so that the response takes the same time. */
const nobodysSecret = randomBytes(32).toString("hex")
const refusalRecordMillis = 10_000
const deliveryWindowMillis = Duration.toMillis(retention.webhookDelivery.after)

const gitRefusal = (error: GitError): ApiError => {
  switch (error._tag) {
    case "GitNoStableVersion":
      return new ApiError({ code: "no_stable_version", message: error.message })
    case "GitVersionAmbiguous":
    case "GitRefAmbiguous":
      return new ApiError({ code: "source_ref_ambiguous", message: error.message })
    default:
      return failedPrecondition(error.message)
  }
}

export const layer = Layer.effect(
  Sources,
  Effect.gen(function* () {
    const command = yield* SourceCommands
    const sql = yield* ReadSql
    const write = yield* SqlClient.SqlClient
    const journal = yield* RunJournal
    const ledger = yield* RunLedger
    const store = yield* SourceStore
    const deferred = yield* DeferredSyncs
    const reads = yield* SnapshotReads
    const lanes = yield* SourceLanes
    const archives = yield* SnapshotStore
    const remote = yield* GitRemote
    const policy = yield* GitPolicy
    const revisions = yield* makeRemoteRevisions
    const pullRequests = yield* PullRequestStore
    const work = yield* DueWork
    const scope = yield* Effect.scope
    const cursors = yield* Cursors
    const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

    const snapshotOf = Effect.fnUntraced(function* (sourceId: SourceId, snapshotId: SourceSnapshotId) {
      const rows = yield* Effect.orDie(SnapshotRow.rows(sql)`SELECT * FROM source_snapshots
        WHERE id = ${snapshotId} AND source_id = ${sourceId}`)
      return rows[0] === undefined ? yield* notFound("SourceSnapshot") : rows[0]
    })

    /**
     * Returns true if a wrong signature should be recorded. Anyone can send a wrong signature, so at most one is recorded
     * every ten seconds.
     */
    const isNewRefusal = ({ last_delivery_at, last_delivery_verdict }: SourceRow) =>
      Effect.map(
        Clock.currentTimeMillis,
        (at) =>
          last_delivery_verdict !== "unproven" ||
          last_delivery_at === null ||
          at - Date.parse(last_delivery_at) > refusalRecordMillis
      )

    return Sources.of({
      create: Effect.fnUntraced(function* (context, request) {
        const id = yield* newId(SourceId, "src").pipe(withRandom)
        return yield* command.Create(id, { context, request })
      }),
      remove: (context, id) =>
        command.Remove(id, { context }).pipe(
          Effect.flatMap(({ freesArchives }) => (freesArchives ? cleanUpSnapshots : Effect.void)),
          Effect.provideService(SqlClient.SqlClient, write),
          Effect.provideService(SnapshotStore, archives)
        ),
      sync: (context, id, { intent = "observe", expectedCommit }) =>
        command.Sync(id, {
          context,
          intent,
          trigger: "user",
          ...(expectedCommit === undefined ? {} : { expectedCommit })
        }),
      checkCompatibility: Effect.fn("Sources.checkCompatibility")(function* (context, id, request) {
        const { id: runId } = yield* command.CheckCompatibility(id, { context, ...request })
        yield* awaitRun(runId).pipe(
          Effect.provideService(SqlClient.SqlClient, write),
          Effect.provideService(RunJournal, journal)
        )
        const row = yield* ledger.find(runId)
        const report =
          row?.compatibility_report_id == null ? undefined : yield* store.findReport(row.compatibility_report_id)
        if (row !== undefined && report !== undefined) return { run: toRun(row), compatibilityReport: toReport(report) }
        return yield* new ApiError({
          code: row?.error_code === "module_not_found" ? "module_not_found" : "module_unsupported",
          message: row?.error_message ?? "The check did not finish."
        })
      }),
      stableSemver: Effect.fn("Sources.stableSemver")(function* (_workspaceId, text) {
        const url = fetchableAddress(text, policy)
        if (Result.isFailure(url)) return yield* invalidRequest(`url: ${url.failure.message}`)
        const { tag, commit, version } = yield* Effect.mapError(
          remote.newestStableTag({ url: url.success }),
          gitRefusal
        )
        return { tag, commit, version }
      }),
      revisions: Effect.fn("Sources.revisions")(function* (context, id, ref) {
        const source = yield* store.find(id)
        if (source === undefined || source.removed_at !== null) return yield* notFound("Source")
        if (source.status === "disabled") return yield* failedPrecondition("The Source is disabled.")
        return yield* revisions
          .list(source, context.actor.subject ?? null, ref ?? source.default_ref)
          .pipe(Effect.mapError(({ message }) => failedPrecondition(message)))
      }),
      read: Effect.fn("Sources.read")(function* (id) {
        const rows = yield* Effect.orDie(SourceRow.rows(sql)`SELECT * FROM sources WHERE id = ${id}`)
        if (rows[0] === undefined) return yield* notFound("Source")
        const [look] = yield* Effect.orDie(PullRequestLookRow.rows(sql)`SELECT * FROM pull_request_looks
          WHERE source_id = ${id}`)
        return {
          ...toSource(rows[0]),
          lanes: yield* projectLanes(sql, rows[0]),
          ...(look === undefined ? {} : { pullRequestLook: toPullRequestLook(look) })
        }
      }),
      list: Effect.fn("Sources.list")(function* (workspaceId, page) {
        const list = {
          route: "sources.list",
          newestFirst: false,
          conditions: [sql`workspace_id = ${workspaceId}`, sql`removed_at IS NULL`],
          filter: [workspaceId]
        }
        const rows = yield* pageOfRows(ListedSource, sql, cursors, list, page)
        return { ...rows, items: rows.items.map(toSource) }
      }),
      failingLanes: Effect.fn("Sources.failingLanes")((workspaceId) => failingLanes(sql, workspaceId)),
      snapshots: Effect.fn("Sources.snapshots")(function* (id, page) {
        const list = {
          route: "sources.snapshots",
          newestFirst: true,
          conditions: [sql`source_id = ${id}`],
          filter: [id]
        }
        const rows = yield* pageOfRows(ListedSnapshot, sql, cursors, list, page)
        return { ...rows, items: rows.items.map(toSnapshot) }
      }),
      installModules: (id, snapshotId) => Effect.flatMap(snapshotOf(id, snapshotId), reads.modules),
      file: (id, snapshotId, path) => Effect.flatMap(snapshotOf(id, snapshotId), (row) => reads.file(row, path)),
      report: Effect.fn("Sources.report")(function* (id) {
        const rows = yield* Effect.orDie(ReportRow.rows(sql)`SELECT * FROM compatibility_reports WHERE id = ${id}`)
        return rows[0] === undefined ? yield* notFound("Compatibility report") : toReport(rows[0])
      }),
      hook: Effect.fn("Sources.hook")(function* (id, delivery) {
        const secretsOf = Effect.fnUntraced(function* (source: SourceRow | undefined) {
          if (source === undefined || source.removed_at !== null) return undefined
          const { current, former } = yield* store.hookSecrets(source)
          return {
            current: Redacted.value(current),
            former: former === undefined ? undefined : Redacted.value(former)
          }
        })
        const without = (verdict: DeliveryVerdict) => Effect.as(store.noteDelivery(id, verdict, 0), { runIds: [] })
        // An unknown Source gets the same response as a wrong secret, after the same work, so that the URL of a webhook reveals
        // nothing. For the same reason, a recent renewal of the secret cannot be detected.
        const { current = nobodysSecret, former = nobodysSecret } = (yield* secretsOf(yield* store.find(id))) ?? {}
        const proven = yield* provenSecret([current, former], delivery.proofs, delivery.body)
        // Reads the Source again: the body may take half a minute to arrive, during which the Source and its secret may have
        // changed.
        const row = yield* store.find(id)
        const valid = yield* secretsOf(row)
        const isValid = valid !== undefined && (proven === valid.current || proven === valid.former)
        if (row === undefined || proven === undefined || !isValid) {
          // Recorded in the background, so that the response time does not reveal that the Source exists.
          if (row !== undefined && row.removed_at === null && (yield* isNewRefusal(row)))
            yield* Effect.forkIn(store.noteDelivery(id, "unproven", 0), scope)
          return yield* new ApiError({
            code: "unauthenticated",
            message:
              "The delivery is not signed with the Source's webhook secret. Check the secret in the webhook's settings."
          })
        }
        // Removes the previous secret, because the Git server uses the new one.
        if (proven === valid.current && row.former_hook_secret !== null) {
          yield* transaction(write)(store.endFormerHookSecret(row))
        }
        // Accepts the delivery but does nothing, so that the forge does not disable the webhook. Does not record the
        // delivery, because it may be sent again once the Source follows its repository again or the Workspace has been
        // restored.
        if (delivery.isPing === true) return yield* without("ping")
        if (row.auto_sync !== 1 || row.status === "disabled") return yield* without("not_following")
        const archived = yield* Effect.orDie(sql`SELECT 1 AS one FROM workspaces
          WHERE id = ${row.workspace_id} AND archived_at IS NOT NULL`)
        if (archived.length > 0) return yield* without("not_following")
        const deliveryId = delivery.deliveryId?.slice(0, 200)
        if (deliveryId !== undefined) {
          const windowStart = new Date((yield* Clock.currentTimeMillis) - deliveryWindowMillis).toISOString()
          if (!(yield* transaction(write)(store.recordDelivery(id, deliveryId, windowStart))))
            return yield* without("repeated")
        }
        const runs = yield* Effect.forEach(yield* lanes.inUse(row), ({ path, ref }) => {
          const lane = { ref, path }
          const look = command.Sync(id, { context: hookContext, intent: "observe", trigger: "webhook", lane })
          return look.pipe(
            Effect.map((run) => [run]),
            // If the queue is full, the lane is recorded and synced later; this does not require another delivery.
            Effect.catch((error) =>
              Effect.gen(function* () {
                // If the Source was stopped after it was read above, the delivery has no effect, as if it had arrived after
                // the stop.
                const isStopped = followObstacle(yield* store.find(id), "webhook") !== undefined
                return isStopped || (yield* deferred.isDeferred(id, lane)) ? [] : yield* error
              })
            )
          )
        }).pipe(
          // Removes the record of the delivery. The forge gets an error and sends the delivery again, and the repeated
          // delivery must not be rejected as a duplicate.
          Effect.onError(() =>
            Effect.andThen(
              deliveryId === undefined ? Effect.void : store.forgetDelivery(id, deliveryId),
              store.noteDelivery(id, "failed", 0)
            )
          )
        )
        if (row.pull_requests !== "off") {
          yield* transaction(write)(pullRequests.ask(row))
          yield* work.wake
        }
        const runIds = runs.flat().map((run) => run.id)
        yield* store.noteDelivery(id, "accepted", runIds.length)
        return { runIds }
      })
    })
  })
)
