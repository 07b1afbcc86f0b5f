import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { RunEventData, RunFact } from "../../../schema/events/RunEvent.ts"
import type { RunEvidence, RunStatus, RunType } from "../../../schema/records/Run.ts"
import { isFinalStatus, transitionEvent } from "../../../schema/records/RunTransitions.ts"
import type { ChangesOf } from "../../base/database/Table.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { type HoldLost, holdLost, isHeld, type RunHold, StopRequested } from "./RunHold.ts"
import { RunJournal } from "./RunJournal.ts"
import { markReports } from "../pull-request-report/ReportMarks.ts"
import { reportMove } from "./RunNotices.ts"
import { EvidenceJson, isSpeculative, mergedEvidence, RunRow, standingOf } from "./RunRow.ts"
import { type RunId, Subject } from "../../../schema/records/Ids.ts"
import type { RunEndedBy, RunEndKind } from "../../../schema/records/RunDecision.ts"

/** Returns true for Runs that change infrastructure, which must never be executed twice. */
export const isApply = (type: RunType): boolean => type === "apply" || type === "destroy_apply"

export interface RunError {
  readonly code: string
  readonly message: string
}

/** Data to record with a status change. No other code writes `columns`. */
interface Recorded {
  readonly error?: RunError | undefined
  readonly evidence?: RunEvidence | undefined
  readonly columns?: ChangesOf<typeof RunRow> | undefined
  /** The person who ended the Run early. Defaults to the person who requested the cancellation. */
  readonly by?: Decider | undefined
}

/** A Run that the caller has just read in the same transaction. */
export type SeenRun = Pick<
  RunRow,
  "id" | "type" | "status" | "approved_at" | "used_by_run_id" | "evidence" | "plan_details"
>

/** The person who made a decision, and the reason for it. If `subject` is absent, svc made the decision. */
interface Decider {
  readonly subject?: string | undefined
  readonly reason?: string | undefined
}

const decided = ({ reason, subject }: Decider) => ({
  ...(subject === undefined ? {} : { subject: Subject.make(subject) }),
  ...(reason === undefined ? {} : { reason })
})

const endKind = (seen: SeenRun, to: RunStatus): RunEndKind | undefined => {
  if (to === "superseded" || to === "expired") return to
  if (to !== "cancelled") return undefined
  if (seen.status === "waiting_approval") return "discarded"
  return seen.status === "succeeded" ? "approval_withdrawn" : "cancelled"
}

/** The approver of a plan. If `subject` is absent, svc approved the plan. */
export interface Approval {
  readonly subject?: string | undefined
  readonly comment?: string | undefined
  readonly data: RunEventData<"run.approved">
}

/**
 * Cancel reason of a speculative plan that is replaced by the plan of a newer commit. The replaced plan gets the status
 * `superseded`.
 */
export const replacedReason = "A newer commit of the pull request is planned."

/** Data for the event that records the end of an apply, in addition to the error. */
type EndData = Pick<RunEventData<"run.failed">, "stateVersionId">

type Held = Effect.Effect<void, HoldLost>
type Settled = Effect.Effect<void, HoldLost | StopRequested>

/**
 * The error of an apply whose tool finished before the stop request reached it. The effects of the tool cannot be undone.
 */
const allWasDone: RunError = {
  code: "applied_before_cancel",
  message:
    "The request to stop came after the tool had finished: everything in the plan was done, and the state is complete. To take it back, plan again."
}

/**
 * The only writer of a Run's status, except for the initial status, which `RunLedger.insert` writes. Every method works in the
 * caller's transaction and also writes the event of the transition. A transition outside `runTransitions` is a defect. Methods
 * with a `RunHold` are for the Run's execution. Methods with a row are for Runs that are not being executed, and return `false`
 * if the Run has changed since the row was read. A recorded stop request overrides every outcome that has not been committed yet.
 * For a Run that changed nothing outside svc, a result then fails with `StopRequested`, which rolls back the caller's
 * transaction, and a failure is recorded as a cancellation. For an apply, the request determines the status, but the tool's
 * effects are still recorded.
 */
export class RunLifecycle extends Context.Service<
  RunLifecycle,
  {
    /** Assigns a queued Run to an owner and increments its fence. Returns `undefined` if the Run is no longer queued. */
    readonly claim: (id: RunId, owner: string) => Effect.Effect<RunRow | undefined>
    readonly succeed: (hold: RunHold, data: RunEventData<"run.succeeded">, evidence?: RunEvidence) => Settled
    /** Ends an apply that carried out its plan completely. */
    readonly succeedApply: (hold: RunHold, data: EndData, evidence: RunEvidence) => Held
    readonly fail: (hold: RunHold, error: RunError, evidence?: RunEvidence, data?: EndData) => Held
    readonly cancel: (hold: RunHold, evidence?: RunEvidence, error?: RunError, data?: EndData) => Held
    readonly supersede: (hold: RunHold, reason: string) => Held
    /** Call this before committing part of the result while the Run continues. Fails if somebody asked the Run to stop. */
    readonly proceed: (hold: RunHold) => Settled
    readonly waitForApproval: (
      hold: RunHold,
      data: RunEventData<"run.waiting_approval">,
      evidence: RunEvidence
    ) => Settled
    /**
     * Returns the Run to the queue. If something other than the Run caused the requeue, pass `counts: false`, so that the
     * attempt is not counted.
     */
    readonly requeue: (hold: RunHold, reason: string, options: { readonly counts: boolean }) => Held
    /** Approves a waiting plan. */
    readonly approve: (plan: SeenRun, approval: Approval) => Effect.Effect<boolean>
    /** Cancels a Run that is queued or waiting for approval, or an approved plan that no apply has used. */
    readonly withdraw: (run: SeenRun, by: Decider) => Effect.Effect<boolean>
    /** Voids a plan that is waiting to be approved or applied, and deletes the saved plan. */
    readonly voidPlan: (plan: SeenRun, reason: string) => Effect.Effect<boolean>
    /** Like `voidPlan`, for an expired plan. */
    readonly expire: (plan: SeenRun) => Effect.Effect<boolean>
    /** Fails a Run that has never started. */
    readonly abandon: (run: SeenRun, error: RunError, evidence?: RunEvidence) => Effect.Effect<boolean>
    /** Records a stop request for a running Run. Does nothing if a request is already recorded. */
    readonly requestCancel: (id: RunId, by: Decider) => Effect.Effect<void>
    /** Marks an approved plan as used by an apply. Returns `false` if the plan is already used or void. */
    readonly usePlan: (planId: RunId, applyId: RunId) => Effect.Effect<boolean>
  }
>()("svc/actors/ledger/run/RunLifecycle") {
  static readonly layer = Layer.effect(
    RunLifecycle,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* RunJournal
      const killPoint = yield* KillPoint

      const claim = Effect.fn("RunLifecycle.claim")(function* (id: RunId, owner: string) {
        const at = yield* now
        // Batch numbers restart under the new fence, and the log accepts lines again.
        const fresh = {
          last_event_batch: 0,
          last_log_batch: 0,
          log_ended_at: null,
          start_acknowledged_at: null,
          agent_unreachable_since: null
        }
        const [claimed] = yield* RunRow.rows(sql)`UPDATE runs
          SET ${RunRow.changes(sql, { status: "running", owner, started_at: at, ...fresh })}, attempt = attempt + 1, fence = fence + 1
          WHERE id = ${id} AND status = 'queued' RETURNING *`
        if (claimed === undefined) return undefined
        yield* journal.append(id, "run.started", { attempt: claimed.attempt })
        yield* killPoint(`${claimed.type}.run.started`)
        return claimed
      }, Effect.orDie)

      const move = Effect.fnUntraced(function* (
        seen: SeenRun,
        to: RunStatus,
        { data, kind }: RunFact,
        { by, columns, error, evidence }: Recorded = {},
        hold?: RunHold
      ) {
        // Only the execution of a Run that is still running may report its outcome.
        if (transitionEvent(standingOf(seen), to) !== kind || (seen.status === "running" && hold === undefined)) {
          return yield* Effect.die(new Error(`The Run ${seen.id} is ${seen.status} and cannot become ${to} like this.`))
        }
        const at = yield* now
        const kindOfEnd = endKind(seen, to)
        const decider = by ?? EvidenceJson.read(seen.evidence).cancelRequest ?? {}
        const endedBy: RunEndedBy | undefined =
          kindOfEnd === undefined ? undefined : { kind: kindOfEnd, at, ...decided(decider) }
        const asSeen =
          seen.status === "succeeded"
            ? sql`id = ${seen.id} AND status = 'succeeded' AND used_by_run_id IS NULL`
            : sql`id = ${seen.id} AND status = ${seen.status}`
        const moved = yield* sql`UPDATE runs SET ${RunRow.changes(sql, {
          status: to,
          owner: null,
          finished_at: isFinalStatus(to) ? at : null,
          error_code: error?.code ?? null,
          error_message: error?.message ?? null,
          ...(evidence === undefined && endedBy === undefined
            ? {}
            : mergedEvidence(seen, { ...evidence, ...(endedBy === undefined ? {} : { endedBy }) })),
          ...columns
        })} WHERE ${hold === undefined ? asSeen : isHeld(sql, hold)} RETURNING id`
        if (moved.length === 0) return false
        // Deletes the preparation, because nothing can be settled under this hold once the Run has ended.
        if (hold !== undefined) yield* sql`DELETE FROM run_preparations WHERE run_id = ${seen.id}`
        const who = kind === "run.cancelled" ? decided(decider) : {}
        yield* journal.append(seen.id, kind, { ...who, ...data })
        yield* reportMove(sql, seen.id, seen.type, to, kind)
        yield* markReports(sql, seen.id)
        yield* killPoint(`${seen.type}.${kind}`)
        return true
      }, Effect.orDie)

      const held = Effect.fn("RunLifecycle.held")(function* (
        hold: RunHold,
        to: RunStatus,
        fact: RunFact,
        recorded?: Recorded
      ): Effect.fn.Return<void, HoldLost> {
        yield* journal.flush(hold)
        const [seen] = yield* Effect.orDie(RunRow.some(
          sql,
          "id",
          "type",
          "status",
          "approved_at",
          "used_by_run_id",
          "evidence",
          "plan_details"
        )`SELECT id, type, status, approved_at, used_by_run_id, evidence, plan_details
          FROM runs WHERE ${isHeld(sql, hold)}`)
        if (seen === undefined || !(yield* move(seen, to, fact, recorded, hold))) return yield* holdLost(hold)
      })

      const requestToStop = Effect.fnUntraced(function* (hold: RunHold) {
        const [run] = yield* RunRow.some(
          sql,
          "type",
          "purpose",
          "cancel_requested_at",
          "cancel_reason"
        )`SELECT type, purpose, cancel_requested_at, cancel_reason FROM runs WHERE ${isHeld(sql, hold)}`
        if (run === undefined || run.cancel_requested_at === null) return undefined
        return { isApply: isApply(run.type), isReplaced: isSpeculative(run) && run.cancel_reason === replacedReason }
      }, Effect.orDie)

      /** Reads the stop request before flushing, because events flushed in a transaction that then rolls back would be lost. */
      const unlessStopped = Effect.fnUntraced(function* (
        hold: RunHold,
        to: "succeeded" | "waiting_approval",
        fact: RunFact,
        evidence: RunEvidence | undefined
      ) {
        if ((yield* requestToStop(hold)) !== undefined) return yield* new StopRequested({ hold, evidence })
        yield* held(hold, to, fact, { evidence })
      })

      const proceed = Effect.fnUntraced(function* (hold: RunHold) {
        if ((yield* requestToStop(hold)) !== undefined) return yield* new StopRequested({ hold, evidence: undefined })
      })

      const superseded = (hold: RunHold, reason: string, evidence?: RunEvidence) =>
        held(hold, "superseded", { kind: "run.superseded", data: { reason } }, { by: { reason }, evidence })

      const cancel = Effect.fnUntraced(function* (
        hold: RunHold,
        evidence?: RunEvidence,
        error?: RunError,
        data?: EndData
      ) {
        const request = yield* requestToStop(hold)
        if (request?.isReplaced === true) return yield* superseded(hold, replacedReason, evidence)
        const fact = { ...data, ...(error === undefined ? {} : { error }) }
        yield* held(hold, "cancelled", { kind: "run.cancelled", data: fact }, { error, evidence })
      })

      const succeedApply = Effect.fnUntraced(function* (hold: RunHold, data: EndData, evidence: RunEvidence) {
        if ((yield* requestToStop(hold)) !== undefined) return yield* cancel(hold, evidence, allWasDone, data)
        yield* held(hold, "succeeded", { kind: "run.succeeded", data }, { evidence })
      })

      /** Adds the newer commit, if there is one, to the error, because that commit may fix the failure. */
      const withNewerCommit = Effect.fnUntraced(function* (hold: RunHold, error: RunError) {
        const [row] = yield* RunRow.some(sql, "evidence")`SELECT evidence FROM runs WHERE id = ${hold.runId}`
        const newer = row === undefined ? undefined : EvidenceJson.read(row.evidence).newerCommit
        if (newer === undefined) return error
        const { ref, resolvedCommit } = newer
        const remedy = `This Run used the deployed commit, and ${ref} is at the newer commit ${resolvedCommit.slice(0, 12)}. If that commit mends the failure, plan and apply it first.`
        return { ...error, message: `${error.message} ${remedy}` }
      }, Effect.orDie)

      const fail = Effect.fnUntraced(function* (
        hold: RunHold,
        problem: RunError,
        evidence?: RunEvidence,
        data?: EndData
      ) {
        const error = yield* withNewerCommit(hold, problem)
        const request = yield* requestToStop(hold)
        // Reports objects that the apply may have left behind, regardless of its outcome.
        if (request !== undefined) return yield* cancel(hold, evidence, request.isApply ? error : undefined, data)
        yield* held(hold, "failed", { kind: "run.failed", data: { ...data, error } }, { error, evidence })
      })

      const supersede = Effect.fnUntraced(function* (hold: RunHold, reason: string) {
        if ((yield* requestToStop(hold)) !== undefined) return yield* cancel(hold)
        yield* superseded(hold, reason)
      })

      const requeue = Effect.fnUntraced(function* (
        hold: RunHold,
        reason: string,
        { counts }: { readonly counts: boolean }
      ) {
        yield* held(hold, "queued", { kind: "run.queued", data: { reason } })
        if (!counts) yield* Effect.orDie(sql`UPDATE runs SET attempt = attempt - 1 WHERE id = ${hold.runId}`)
      })

      const approve = Effect.fnUntraced(function* (plan: SeenRun, { comment, data, subject }: Approval) {
        const columns = { approved_by: subject ?? null, approved_at: yield* now, approval_comment: comment ?? null }
        const who = subject === undefined ? {} : { subject }
        return yield* move(plan, "succeeded", { kind: "run.approved", data: { ...data, ...who } }, { columns })
      })

      const withoutPlan = (id: RunId) => Effect.orDie(sql`DELETE FROM run_plans WHERE run_id = ${id}`)

      const voidPlan = Effect.fnUntraced(function* (plan: SeenRun, reason: string) {
        const moved = yield* move(plan, "superseded", { kind: "run.superseded", data: { reason } }, { by: { reason } })
        if (moved) yield* withoutPlan(plan.id)
        return moved
      })

      const expire = Effect.fnUntraced(function* (plan: SeenRun) {
        const moved = yield* move(plan, "expired", { kind: "run.expired", data: {} }, { by: {} })
        if (moved) yield* withoutPlan(plan.id)
        return moved
      })

      const requestCancel = Effect.fn("RunLifecycle.requestCancel")(function* (id: RunId, by: Decider) {
        const [seen] = yield* RunRow.some(sql, "evidence", "plan_details")`SELECT evidence, plan_details FROM runs
          WHERE id = ${id} AND status = 'running' AND cancel_requested_at IS NULL`
        if (seen === undefined) return
        const at = yield* now
        const { evidence } = mergedEvidence(seen, { cancelRequest: { at, ...decided(by) } })
        const request = { cancel_requested_at: at, cancel_reason: by.reason ?? null, evidence }
        yield* sql`UPDATE runs SET ${RunRow.changes(sql, request)} WHERE id = ${id}`
        yield* journal.append(id, "run.cancelling", decided(by))
      }, Effect.orDie)

      const usePlan = Effect.fnUntraced(function* (planId: RunId, applyId: RunId) {
        const used = yield* sql`UPDATE runs SET ${RunRow.changes(sql, { used_by_run_id: applyId })}
          WHERE id = ${planId} AND used_by_run_id IS NULL AND status = 'succeeded' RETURNING id`
        return used.length > 0
      }, Effect.orDie)

      return RunLifecycle.of({
        claim,
        succeed: (hold, data, evidence) => unlessStopped(hold, "succeeded", { kind: "run.succeeded", data }, evidence),
        succeedApply,
        fail,
        cancel,
        supersede,
        proceed,
        waitForApproval: (hold, data, evidence) =>
          unlessStopped(hold, "waiting_approval", { kind: "run.waiting_approval", data }, evidence),
        requeue,
        approve,
        withdraw: (run, by) =>
          move(
            run,
            "cancelled",
            { kind: "run.cancelled", data: run.status === "succeeded" ? { approvalWithdrawn: true } : {} },
            { by }
          ),
        voidPlan,
        expire,
        abandon: (run, error, evidence) =>
          move(run, "failed", { kind: "run.failed", data: { error } }, { error, evidence }),
        requestCancel,
        usePlan
      })
    })
  )
}
