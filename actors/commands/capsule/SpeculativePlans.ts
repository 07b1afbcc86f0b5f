import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import {
  type CapsuleId,
  type PullRequestId,
  RunId,
  type SourceId,
  type SourceSnapshotId,
  type Subject
} from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transacted } from "../../base/database/Transaction.ts"
import { derivedId } from "../../base/Identity.ts"
import type { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { ruleObstacle } from "../../ledger/run/PullRequestPlan.ts"
import { RunCancels } from "../../ledger/run/RunCancels.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { replacedReason, RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunRow, toRun } from "../../ledger/run/RunRow.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { RunHandover } from "../../running/execution/RunHandover.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { CapsuleRuns } from "./CapsuleRuns.ts"

type Load = Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>

/** Returns the unfinished plans of a pull request for a Capsule. */
const unfinished = Effect.fnUntraced(function* (capsuleId: CapsuleId, pullRequestId: PullRequestId) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE coordinator_kind = 'pull_request'
    AND coordinator_id = ${pullRequestId} AND capsule_id = ${capsuleId} AND status IN ('queued', 'running')
    ORDER BY created_at, id`)
})

/** Ends a queued plan with `end`, and asks a running plan to stop. */
const stop = Effect.fnUntraced(function* (run: RunRow, reason: string, end: Effect.Effect<boolean>) {
  const sql = yield* SqlClient.SqlClient
  const lifecycle = yield* RunLifecycle
  if (run.status === "running") {
    yield* lifecycle.requestCancel(run.id, { reason })
    return yield* sql.afterCommit((yield* RunCancels).cancel(run.id))
  }
  if (!(yield* end)) return
  yield* (yield* RunHandover).finished(run)
  yield* sql.afterCommit((yield* RunQueue).wake)
})

/** Maximum number of unfinished plans of one Source's pull requests. Further plans wait. */
const mostPlans = 8

const Unfinished = rowShape({ plans: Schema.Int })

/** Fails if another plan would exceed the limit of the Source. Runs in the transaction that creates the plan. */
const admitPlan = Effect.fnUntraced(function* (sourceId: SourceId | null) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(Unfinished.rows(sql)`SELECT COUNT(*) AS plans FROM runs r
    JOIN pull_requests p ON p.id = r.coordinator_id WHERE p.source_id = ${sourceId}
      AND r.coordinator_kind = 'pull_request' AND r.type = 'plan' AND r.status IN ('queued', 'running')`)
  if ((row?.plans ?? 0) < mostPlans) return
  return yield* new ApiError({
    code: "rate_limited",
    message: `${mostPlans} plans of the Source's pull requests are unfinished, which is the limit. The plan starts in its turn.`
  })
})

interface SpeculativeRequest {
  readonly pullRequestId: PullRequestId
  readonly sourceSnapshotId: SourceSnapshotId
  readonly ofOwnBranch?: boolean | undefined
  readonly by?: Subject | undefined
  readonly attempt?: number | undefined
}

/** Returns the snapshot of the head if it contains the Capsule's module. */
const headOf = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, id: SourceSnapshotId) {
  const snapshot = yield* (yield* SourceStore).findSnapshot(id)
  if (snapshot === undefined || snapshot.workspace_id !== capsule.workspace_id) return yield* notFound("Snapshot")
  if (snapshot.source_id !== capsule.source_id || snapshot.path !== capsule.tracked_path) {
    return yield* failedPrecondition("The snapshot is not of the Capsule's Source and path.")
  }
  return snapshot
})

/**
 * Plans the head of a pull request once per commit and attempt, and supersedes unfinished plans of the pull request's other
 * commits.
 */
export const planSpeculatively = Effect.fn("Capsule.planSpeculatively")(function* (
  load: Load,
  context: CommandContext,
  { attempt = 0, by, ofOwnBranch, pullRequestId, sourceSnapshotId }: SpeculativeRequest
) {
  const ledger = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const capsule = yield* load
  const snapshot = yield* headOf(capsule, sourceSnapshotId)
  const runId = derivedId(RunId, "run", capsule.id, `${pullRequestId} ${snapshot.resolved_commit} ${attempt}`)
  const made = yield* ledger.find(runId)
  if (made !== undefined) return toRun(made, yield* (yield* RunQueue).place(made))
  const { kind, subject, tokenId } = context.actor
  const isAsked = kind !== "service"
  const pullRequest = ofOwnBranch === undefined ? {} : { ofOwnBranch }
  const refused = isAsked ? undefined : ruleObstacle(pullRequest, yield* (yield* SourceStore).find(capsule.source_id))
  if (refused !== undefined) return yield* new ApiError({ code: "permission_denied", message: refused })
  yield* admitPlan(capsule.source_id)
  yield* (yield* CapsuleRuns).create(capsule, {
    runId,
    type: "plan",
    purpose: "speculative",
    sourceSnapshotId,
    trigger: isAsked ? "user" : "service",
    createdBy: isAsked ? subject : by,
    tokenId,
    pullRequest,
    coordinator: { kind: "pull_request", id: pullRequestId }
  })
  for (const run of yield* unfinished(capsule.id, pullRequestId)) {
    if (run.id !== runId) yield* stop(run, replacedReason, lifecycle.voidPlan(run, replacedReason))
  }
  yield* (yield* Audit).append({
    workspaceId: capsule.workspace_id,
    actor: context.actor,
    action: "capsule.speculative_plan",
    target: { kind: "capsule", id: capsule.id },
    capsuleId: capsule.id,
    runId,
    data: { pullRequestId, ref: snapshot.ref, resolvedCommit: snapshot.resolved_commit },
    requestId: context.requestId
  })
  const run = yield* ledger.find(runId)
  if (run === undefined) return yield* Effect.die(new Error(`Run ${runId} was not stored`))
  return toRun(run, yield* (yield* RunQueue).place(run))
}, transacted)

/** Cancels the unfinished plans of a pull request for a Capsule. */
export const cancelSpeculative = Effect.fn("Capsule.cancelSpeculative")(function* (
  load: Load,
  context: CommandContext,
  pullRequestId: PullRequestId,
  reason: string
) {
  const lifecycle = yield* RunLifecycle
  const capsule = yield* load
  const by = { subject: context.actor.subject, reason }
  for (const run of yield* unfinished(capsule.id, pullRequestId)) {
    if (run.cancel_requested_at !== null) continue
    yield* stop(run, reason, lifecycle.withdraw(run, by))
    yield* (yield* Audit).append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "run.cancel",
      target: { kind: "run", id: run.id },
      capsuleId: capsule.id,
      runId: run.id,
      data: { type: run.type, reason },
      requestId: context.requestId
    })
  }
}, transacted)
