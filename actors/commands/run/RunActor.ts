import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"
import { serve } from "../../Actor.ts"
import { askForApproval } from "../../access/approval/ApprovalRequests.ts"
import { Approvals } from "../../access/approval/Approvals.ts"
import { ChangeApprovals } from "../../access/approval/ChangeApprovals.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transacted } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { RunCancels } from "../../ledger/run/RunCancels.ts"
import { RunHandover } from "../../running/execution/RunHandover.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunPlans } from "../../running/execution/RunPlans.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { isApprovedPlan } from "../../../schema/records/RunTransitions.ts"
import { type RunRow, standingOf, toRun } from "../../ledger/run/RunRow.ts"
import { approvalRefusal, cancelStep } from "./ReviewDecisions.ts"
import { RunComments } from "./RunComments.ts"
import type { Approver } from "../../../schema/records/Approval.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { Subject } from "../../../schema/records/Ids.ts"

const load = Effect.fnUntraced(function* (id: RunId) {
  const row = yield* (yield* RunLedger).find(id)
  return row === undefined ? yield* notFound("Run") : row
})

const projected = Effect.fnUntraced(function* (id: RunId) {
  const row = yield* load(id)
  return toRun(row, yield* (yield* RunQueue).place(row))
})

const audited = Effect.fnUntraced(function* (
  context: CommandContext,
  row: RunRow,
  action: string,
  data: Record<string, string | null>
) {
  yield* (yield* Audit).append({
    workspaceId: row.workspace_id,
    actor: context.actor,
    action,
    target: { kind: "run", id: row.id },
    capsuleId: row.capsule_id ?? undefined,
    runId: row.id,
    data: { type: row.type, ...data },
    requestId: context.requestId
  })
})

/** The Run actors. Each approves and cancels one Run. */
export const layer = serve(RunCommands, {
  Approve: Effect.fnUntraced(
    function* (id, { acknowledged, context, planDigest, comment }) {
      const lifecycle = yield* RunLifecycle
      const row = yield* load(id)
      const isShort = isApprovedPlan(standingOf(row)) && (yield* (yield* Approvals).obstacle(row)) !== undefined
      const refusal = approvalRefusal(row, planDigest, yield* now, isShort)
      if (refusal !== undefined) return yield* refusal
      const { subject, tokenId } = context.actor
      const approver: Approver = subject === undefined ? "service" : Subject.make(subject)
      const request = { approver, comment, tokenId, acknowledged }
      const { isApproved, isNew, waiting } = yield* (yield* Approvals).give(row, request)
      const completes = isApproved && row.status === "waiting_approval"
      if (completes) {
        yield* lifecycle.approve(row, {
          subject,
          comment,
          data: { planDigest: row.plan_digest, ...(comment === undefined ? {} : { comment }) }
        })
      }
      if (!isNew && !completes && !isShort) return yield* projected(id)
      const { isolation, network } = toRun(row)
      yield* audited(context, row, "run.approve", {
        planDigest: row.plan_digest,
        ...(comment === undefined ? {} : { comment }),
        // Isolation of the reviewed plan; unknown for plans from earlier releases.
        isolation: isolation ?? null,
        network: network ?? null,
        ...(waiting === undefined ? {} : { waiting }),
        ...(acknowledged === undefined ? {} : { acknowledged: acknowledged.join(", ") })
      })
      return yield* projected(id)
    },
    transacted,
    Effect.tap(() => KillPoint.use((killPoint) => killPoint("approve.decided")))
  ),

  ApproveChange: (id, { context, ...change }) =>
    ChangeApprovals.use((approvals) => approvals.approve(id, context, change)),

  WithdrawChange: (id, { changeApprovalId, context }) =>
    ChangeApprovals.use((approvals) => approvals.withdraw(id, context, changeApprovalId)),

  AskApproval: (id, { context }) => askForApproval(id, context),

  // Reads the secrets to mask before the transaction, so that the transaction does not wait for the vault.
  Comment: (id, { context, ...comment }) => RunComments.use((comments) => comments.write(id, context, comment)),

  RemoveComment: (id, { commentId, context }) => RunComments.use((comments) => comments.remove(id, context, commentId)),

  Cancel: Effect.fnUntraced(
    function* (id, { context, planDigest, reason }) {
      const lifecycle = yield* RunLifecycle
      const row = yield* load(id)
      if (planDigest !== undefined && planDigest !== row.plan_digest) {
        return yield* new ApiError({
          code: "guard_conflict",
          message:
            "The planDigest is not that of this Run's plan. Nothing was cancelled. Read the Run and review its plan."
        })
      }
      const data = reason === undefined ? {} : { reason }
      const sql = yield* SqlClient.SqlClient
      const by = { subject: context.actor.subject, reason }
      switch (cancelStep(row)) {
        case "withdraw": {
          yield* lifecycle.withdraw(row, by)
          // Deletes the sealed plan file, because the plan cannot be applied any more, even if its apply never started.
          yield* (yield* RunPlans).drop(row.plan_run_id ?? id)
          const cancelled = yield* load(id)
          yield* (yield* RunHandover).finished(cancelled)
          yield* sql.afterCommit((yield* RunQueue).wake)
          break
        }
        case "request": {
          yield* lifecycle.requestCancel(id, by)
          yield* sql.afterCommit((yield* RunCancels).cancel(id))
          break
        }
        case "ended":
          return yield* failedPrecondition(`The Run is ${row.status} already and cannot be cancelled.`)
        case "withdraw_approval": {
          // If an apply has already taken the plan, the withdrawal came too late. The apply and the withdrawal use the same
          // columns, so only one of them can succeed.
          if (row.used_by_run_id !== null || !(yield* lifecycle.withdraw(row, by))) {
            return yield* new ApiError({
              code: "run_conflict",
              message: `The approval cannot be withdrawn: the Run ${row.used_by_run_id ?? "of its apply"} has used the plan. Cancel that Run while it is queued or running.`
            })
          }
          yield* (yield* RunPlans).drop(id)
          yield* audited(context, row, "run.withdraw_approval", data)
          return yield* projected(id)
        }
      }
      yield* audited(context, row, "run.cancel", data)
      return yield* projected(id)
    },
    transacted,
    Effect.tap(() => KillPoint.use((killPoint) => killPoint("cancel.decided")))
  )
})
