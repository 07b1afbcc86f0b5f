import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import { type CommandContext, serviceContext } from "../../../schema/commands/Command.ts"
import { CapsuleId, PullRequestId, type Subject } from "../../../schema/records/Ids.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import {
  type PullRequestCapsuleRow,
  PlanningActorJson,
  type PullRequestRow
} from "../../ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { preemptedReason } from "../../ledger/run/RunCancels.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { replacedReason } from "../../ledger/run/RunLifecycle.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"

/** The error code if nobody has allowed svc to plan a head. */
const unallowed = "static_review"

const Unfinished = rowShape({ capsule_id: CapsuleId, resolved_commit: RunRow.columns.resolved_commit })
const Waiting = rowShape({ waiting: Schema.Int })
const GaveWay = rowShape({ capsule_id: CapsuleId, pull_request_id: PullRequestId })

/** The authority for a head's plans: a person who allowed this exact commit, or the Source's rule. */
interface Leave {
  readonly context: CommandContext
  readonly ofOwnBranch?: boolean
  readonly by?: Subject
}

/** Returns the person on whose authority svc may plan the head, or the reason why the head gets only a static review. */
export const leaveOf = (
  row: PullRequestRow,
  source: Pick<SourceRow, "pull_requests" | "pull_requests_by">
): Leave | string => {
  if (row.planned_commit === row.head_commit && row.planned_actor !== null) {
    return { context: PlanningActorJson.read(row.planned_actor) }
  }
  if (source.pull_requests !== "own_branches") {
    return "The Source reviews pull requests without planning them. An owner or admin may plan this commit."
  }
  if (row.fork !== "no" && row.merge_group !== null) {
    return "The merge group has a pull request that is not proven to be in this repository, and whose present head nobody allowed. An owner or admin may plan this commit."
  }
  if (row.fork !== "no") {
    return "It is not proven that the head is in this repository. An owner or admin may plan this commit."
  }
  return {
    context: serviceContext,
    ofOwnBranch: true,
    ...(source.pull_requests_by === null ? {} : { by: source.pull_requests_by })
  }
}

/** Starts the speculative plans of a pull request's head, and cancels plans that are no longer wanted. */
export class HeadPlans extends Context.Service<
  HeadPlans,
  {
    /** Plans every affected Capsule, within the permissions and limits. Call it outside a transaction. */
    readonly order: (row: PullRequestRow, source: SourceRow) => Effect.Effect<void>
    /** Cancels every unfinished plan. Call it outside a transaction. */
    readonly cancel: (row: PullRequestRow, reason: string) => Effect.Effect<void>
  }
>()("svc/actors/commands/pull-request/HeadPlans") {
  static readonly layer = Layer.effect(
    HeadPlans,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const store = yield* PullRequestStore
  const capsules = yield* CapsuleCommands
  const killPoint = yield* KillPoint

  const unfinishedOf = (row: PullRequestRow) =>
    Effect.orDie(Unfinished.rows(sql)`SELECT DISTINCT capsule_id, resolved_commit FROM runs
      WHERE coordinator_kind = 'pull_request' AND coordinator_id = ${row.id} AND type = 'plan'
        AND capsule_id IS NOT NULL AND status IN ('queued', 'running') ORDER BY capsule_id`)

  /**
   * Returns the Capsules whose plan of the current head was cancelled in favour of a person's Run. svc plans each head once
   * per attempt, so these Capsules need another attempt.
   */
  const gaveWay = (row: PullRequestRow) =>
    Effect.orDie(GaveWay.rows(sql)`SELECT c.capsule_id, c.pull_request_id FROM pull_request_capsules c
      JOIN runs r ON r.id = c.run_id WHERE c.pull_request_id = ${row.id} AND r.status = 'cancelled'
        AND r.cancel_reason = ${preemptedReason} AND r.resolved_commit = ${row.head_commit} ORDER BY c.capsule_id`)

  const cancelOf = (row: PullRequestRow, capsuleId: CapsuleId, reason: string) =>
    // Ignores errors, because a removed Capsule has no plan to cancel.
    Effect.ignore(capsules.CancelSpeculative(capsuleId, { context: serviceContext, pullRequestId: row.id, reason }))

  /**
   * Returns true if a plan of the current head has already been cancelled, for example because a stricter rule applied when
   * the plan started.
   */
  const wasCancelled = Effect.fnUntraced(function* (row: PullRequestRow) {
    const [cancelled] = yield* Effect.orDie(Waiting.rows(sql)`SELECT COUNT(*) AS waiting FROM pull_request_capsules c
      JOIN runs r ON r.id = c.run_id WHERE c.pull_request_id = ${row.id} AND r.status = 'cancelled'
        AND r.resolved_commit = ${row.head_commit}`)
    return (cancelled?.waiting ?? 0) > 0
  })

  const cancel = Effect.fn("HeadPlans.cancel")(function* (row: PullRequestRow, reason: string) {
    const unfinished = yield* unfinishedOf(row)
    for (const { capsule_id } of unfinished) yield* cancelOf(row, capsule_id, reason)
    const isPresent = unfinished.some((run) => run.resolved_commit === row.head_commit)
    // svc plans a head once per attempt, so the next plan needs a new attempt number.
    if (isPresent || (yield* wasCancelled(row))) yield* transaction(sql)(store.unplanned(row))
  })

  const refused = (capsule: PullRequestCapsuleRow, code: string, message: string) =>
    transaction(sql)(store.planned(capsule, { run_id: null, refusal_code: code, refusal_message: message }))

  const allowed = (capsule: PullRequestCapsuleRow) =>
    transaction(sql)(store.planned(capsule, { run_id: null, refusal_code: null, refusal_message: null }))

  /** Plans one Capsule. Returns `false` if the plan must wait for its turn. */
  const plan = Effect.fnUntraced(function* (row: PullRequestRow, capsule: PullRequestCapsuleRow, leave: Leave) {
    if (row.head_snapshot_id === null) return false
    const made = yield* Effect.result(
      capsules.PlanSpeculatively(capsule.capsule_id, {
        ...leave,
        pullRequestId: row.id,
        sourceSnapshotId: row.head_snapshot_id,
        attempt: row.attempt
      })
    )
    if (made._tag === "Failure") {
      const { code, message } = made.failure
      if (code === "rate_limited") return false
      yield* refused(capsule, code, message)
    } else {
      yield* killPoint("pull_request.planned")
      const planned = { run_id: made.success.id, refusal_code: null, refusal_message: null }
      yield* transaction(sql)(store.planned(capsule, planned))
    }
    return true
  })

  /**
   * Clears the plans that were cancelled in favour of a person's Run. Returns the pull request with the attempt number for
   * the Capsules' next plans.
   */
  const attempted = Effect.fnUntraced(function* (row: PullRequestRow) {
    const stopped = yield* gaveWay(row)
    if (stopped.length === 0) return row
    const attempt = row.attempt + 1
    yield* store.update(row.id, { attempt })
    for (const capsule of stopped) {
      yield* store.planned(capsule, { run_id: null, refusal_code: null, refusal_message: null })
    }
    return { ...row, attempt }
  }, transaction(sql))

  const order = Effect.fn("HeadPlans.order")(function* (seen: PullRequestRow, source: SourceRow) {
    const row = yield* attempted(seen)
    const leave = leaveOf(row, source)
    const judged = (yield* store.capsules(row.id)).filter((capsule) => capsule.head_commit === row.head_commit)
    const touched = judged.filter((capsule) => capsule.touched === 1)
    if (typeof leave === "string") {
      yield* cancel(row, leave)
      for (const capsule of touched) if (capsule.refusal_code === null) yield* refused(capsule, unallowed, leave)
      return
    }
    // Clears earlier refusals first, because they no longer apply, even if the Capsule's plan has to wait for its turn.
    for (const capsule of touched) if (capsule.refusal_code === unallowed) yield* allowed(capsule)
    const isTouched = new Set(touched.map((capsule) => capsule.capsule_id))
    for (const { capsule_id, resolved_commit } of yield* unfinishedOf(row)) {
      // A plan of the current head supersedes the same Capsule's plans of earlier heads.
      if (resolved_commit !== row.head_commit && !isTouched.has(capsule_id)) {
        yield* cancelOf(row, capsule_id, replacedReason)
      }
    }
    for (const capsule of touched) {
      const isOpen = capsule.run_id === null && (capsule.refusal_code === null || capsule.refusal_code === unallowed)
      if (isOpen && !(yield* plan(row, capsule, leave))) return
    }
  })

  return HeadPlans.of({ order, cancel })
})
