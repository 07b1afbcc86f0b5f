import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type PullRequestId, RunId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { isFinalStatus } from "../../../schema/records/RunTransitions.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { newId } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import type { SyncSpec } from "../../inputs/git/LaneFetch.ts"
import type { PullRequestRow } from "../../ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { followObstacle } from "../../ledger/source/FollowedSource.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import { RunHandover } from "../../running/execution/RunHandover.ts"
import { RunAdmission } from "../../running/queue/RunAdmission.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { PullRequestJudgement } from "./PullRequestJudgement.ts"
import { HeadPlans } from "./HeadPlans.ts"
import { MergedPlans } from "./MergedPlans.ts"

/**
 * Maximum number of heads that svc fetches at the same time for one Source. The remaining heads wait, so that Runs started
 * by people go first.
 */
const mostFetches = 4
/** Maximum number of attempts to fetch a head. A later poll makes the next attempt. */
const mostAttempts = 3

const Fetching = rowShape({ waiting: Schema.Int })
const Followed = rowShape({ id: RunId })

/** Returns true if svc may read the heads of a Source. */
const isReviewed = (source: SourceRow | undefined): source is SourceRow =>
  source !== undefined && followObstacle(source, "schedule") === undefined && source.pull_requests !== "off"

/**
 * The steps of a pull request: fetch its head, assess it, start its plans, and release its records when it is closed. Between the
 * transactions, the steps read archives and send commands to Capsules.
 */
export class PullRequestSteps extends Context.Service<
  PullRequestSteps,
  {
    /** Executes every step that is due. */
    readonly take: (id: PullRequestId) => Effect.Effect<void>
  }
>()("svc/actors/commands/pull-request/PullRequestSteps") {
  static readonly layer = Layer.effect(
    PullRequestSteps,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(Layer.mergeAll(PullRequestJudgement.layer, HeadPlans.layer, MergedPlans.layer)))
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const store = yield* PullRequestStore
  const sources = yield* SourceStore
  const lanes = yield* SourceLanes
  const ledger = yield* RunLedger
  const queue = yield* RunQueue
  const admission = yield* RunAdmission
  const handover = yield* RunHandover
  const judgement = yield* PullRequestJudgement
  const plans = yield* HeadPlans
  const merged = yield* MergedPlans
  const work = yield* DueWork
  const killPoint = yield* KillPoint
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

  /**
   * If a Run of the pull request has ended, collects its result and marks the pull request as due. Returns true if a Run had
   * ended.
   */
  const followed = Effect.fnUntraced(function* (id: PullRequestId) {
    const ended = yield* Effect.orDie(Followed.rows(sql)`SELECT d.run_id AS id FROM run_follow_due d
      JOIN runs r ON r.id = d.run_id WHERE r.coordinator_id = ${id} LIMIT 1`)
    if (ended.length === 0) return false
    yield* handover.coordinatorFollowed(id)
    yield* store.mark(id)
    return true
  })

  const isArchived = (workspaceId: WorkspaceId) =>
    refuseArchived(workspaceId).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.match({ onFailure: () => true, onSuccess: () => false })
    )

  const placesLeft = Effect.fnUntraced(function* (source: SourceRow) {
    const [row] = yield* Effect.orDie(Fetching.rows(sql)`SELECT COUNT(*) AS waiting FROM runs
      WHERE source_id = ${source.id} AND coordinator_kind = 'pull_request' AND type = 'source_sync'
        AND status IN ('queued', 'running')`)
    return mostFetches - (row?.waiting ?? 0)
  })

  /** Queues the sync of the head, unless the head must wait for its turn. */
  const fetch = Effect.fnUntraced(function* (row: PullRequestRow, source: SourceRow) {
    if ((yield* placesLeft(source)) <= 0) return
    const run = { workspaceId: row.workspace_id, type: "source_sync", trigger: "schedule" } as const
    const isAdmitted = yield* admission.admit(run).pipe(
      Effect.as(true),
      Effect.catch(() => Effect.succeed(false))
    )
    if (!isAdmitted) return
    const runId = yield* newId(RunId, "run").pipe(withRandom)
    yield* ledger.insert({
      ...run,
      id: runId,
      sourceId: source.id,
      coordinator: { kind: "pull_request", id: row.id },
      quiet: true,
      spec: {
        url: source.url,
        ref: row.ref,
        path: source.default_path,
        intent: "manual_plan",
        expectedCommit: row.head_commit,
        ...(source.auth_connection_id === null ? {} : { authConnectionId: source.auth_connection_id })
      } satisfies SyncSpec
    })
    yield* store.update(row.id, { sync_run_id: runId, sync_attempts: row.sync_attempts + 1 })
    yield* sql.afterCommit(queue.wake)
  })

  /** Handles the result of the sync. Returns true if the head's snapshot exists. */
  const fetched = Effect.fnUntraced(function* (row: PullRequestRow, source: SourceRow) {
    if (row.head_snapshot_id !== null) return true
    const run = row.sync_run_id === null ? undefined : yield* ledger.find(row.sync_run_id)
    if (run === undefined) return yield* Effect.as(fetch(row, source), false)
    if (!isFinalStatus(run.status)) return false
    if (run.status === "succeeded" && run.resolved_commit === row.head_commit && run.source_snapshot_id !== null) {
      yield* store.update(row.id, { head_snapshot_id: run.source_snapshot_id, error_code: null, error_message: null })
      return true
    }
    const isKnown = row.error_code !== null
    yield* store.update(row.id, {
      error_code: run.error_code ?? "source_sync_failed",
      error_message: run.error_message ?? "The head of the pull request could not be fetched."
    })
    // Requests a poll of the refs after the first failure, because the head has probably moved. A later poll tries again.
    if (!isKnown) {
      yield* store.ask(source)
      yield* sql.afterCommit(work.wake)
    } else if (row.sync_attempts < mostAttempts) yield* fetch(row, source)
    return false
  })

  /** Releases the records of a pull request that is closed or that the Source no longer reviews. */
  const release = Effect.fnUntraced(function* (row: PullRequestRow, source: SourceRow | undefined) {
    const reason =
      row.state === "open" ? "The Source no longer reviews its pull requests." : `The pull request is ${row.state}.`
    yield* plans.cancel(row, reason)
    if (isReviewed(source)) yield* merged.connect(row, source)
    yield* transaction(sql)(
      Effect.gen(function* () {
        if (source !== undefined) yield* lanes.forget(source.id, { ref: row.ref, path: source.default_path })
        yield* store.served(row)
      })
    )
  })

  /** Reads the due work in one transaction, and fetches the head if its snapshot is missing. */
  const begin = Effect.fnUntraced(function* (id: PullRequestId) {
    const isAfterRun = yield* followed(id)
    const row = yield* store.find(id)
    if (row === undefined) return undefined
    const source = yield* sources.find(row.source_id)
    if (isAfterRun && source !== undefined) {
      yield* store.nextInTurn(source.id, mostFetches)
      yield* sql.afterCommit(work.wake)
    }
    if (row.state !== "open" || !isReviewed(source) || (yield* isArchived(row.workspace_id))) {
      return { kind: "ended", row, source } as const
    }
    if (yield* fetched(row, source)) return { kind: "here", row: (yield* store.find(id)) ?? row, source } as const
    yield* store.served(row)
    return undefined
  })

  const judge = Effect.fnUntraced(function* (row: PullRequestRow, source: SourceRow) {
    const judged = yield* judgement.of(row, source)
    yield* killPoint("pull_request.judged")
    yield* transaction(sql)(
      Effect.gen(function* () {
        const current = yield* store.find(row.id)
        // If the head or its base changed during the review, the pull request was marked as due again.
        if (current?.head_commit !== row.head_commit || current.base_branch !== row.base_branch) return
        yield* judgement.record(current, judged)
      })
    )
  })

  const take = Effect.fn("PullRequestSteps.take")(function* (id: PullRequestId) {
    const begun = yield* transaction(sql)(begin(id))
    if (begun === undefined) return
    const { row, source } = begun
    if (begun.kind === "ended") return yield* release(row, source)
    if (row.review === null) yield* judge(row, begun.source)
    // Reads the rule and the head again, because either may have changed during the review.
    const current = yield* store.find(id)
    const now = yield* sources.find(row.source_id)
    if (current?.state === "open" && isReviewed(now)) yield* plans.order(current, now)
    yield* transaction(sql)(store.served(row))
  })

  return PullRequestSteps.of({ take })
})
