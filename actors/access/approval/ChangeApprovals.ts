import { markReports } from "../../ledger/pull-request-report/ReportMarks.ts"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { CommandContext, IdempotentRequest, Replayable } from "../../../schema/commands/Command.ts"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { ChangeApproval } from "../../../schema/records/ChangeApproval.ts"
import { ChangeApprovalId, type RunId, Subject } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { newId, now, nowAfter } from "../../base/Identity.ts"
import { isSpeculative, RunRow } from "../../ledger/run/RunRow.ts"
import { peopleBehind, SubjectsJson } from "../account/PeopleBehind.ts"
import { openRules } from "./ApprovalDecision.ts"
import { requireEligible } from "./ApproverEligibility.ts"
import { ChangeApprovalRow, rulesText } from "./ApprovalRows.ts"
import { approvalBy, planApproval } from "./PlanApproval.ts"

const decode = storedRecord(ChangeApproval)

const toChangeApproval = (row: ChangeApprovalRow): ChangeApproval =>
  decode({
    id: row.id,
    runId: row.run_id,
    subject: row.subject,
    planDigest: row.plan_digest,
    changeDigest: row.change_digest,
    commit: row.resolved_commit,
    ...(row.comment === null ? {} : { comment: row.comment }),
    at: row.created_at,
    ...(row.withdrawn_at === null ? {} : { withdrawnAt: row.withdrawn_at }),
    ...(row.withdrawn_by === null ? {} : { withdrawnBy: row.withdrawn_by }),
    ...(row.carried_to_run_id === null ? {} : { carriedToRunId: row.carried_to_run_id })
  })

interface ReviewedChange {
  readonly planDigest: string
  readonly changeDigest: string
  readonly comment?: string | undefined
  readonly idempotency?: IdempotentRequest | undefined
}

/** Returns the reason why the change in a Run cannot be approved, or `undefined` if it can be. */
export const changeRefusal = (
  run: Pick<RunRow, "type" | "purpose" | "status" | "plan_digest" | "change_digest">,
  { changeDigest, planDigest }: Pick<ReviewedChange, "changeDigest" | "planDigest">
): ApiError | undefined => {
  if (run.type !== "plan" || !isSpeculative(run)) {
    return failedPrecondition(
      "Only the change in a speculative plan is approved by change-approvals. Approve any other plan with POST /api/v1/runs/{runId}/approve."
    )
  }
  if (run.status !== "succeeded" || run.plan_digest === null) {
    return failedPrecondition(`Only a speculative plan that succeeded can be approved; this one is ${run.status}.`)
  }
  if (run.change_digest === null) {
    return failedPrecondition("An agent of an earlier release made this plan, without a changeDigest. Plan again.")
  }
  if (planDigest === run.plan_digest && changeDigest === run.change_digest) return undefined
  return new ApiError({
    code: "guard_conflict",
    message: "The digests are not those of this Run: it does not show the change that was reviewed."
  })
}

/** Approvals of the changes in speculative plans. The only writer of `change_approvals`. */
export class ChangeApprovals extends Context.Service<
  ChangeApprovals,
  {
    /** Lists the approvals, oldest first, including withdrawn approvals. */
    readonly list: (id: RunId) => Effect.Effect<ReadonlyArray<ChangeApproval>, ApiError>
    /**
     * Records an approval by a person who may approve the later plan. Repeating the approval changes nothing. Fails with
     * `guard_conflict` if the Run shows another change, and with `permission_denied` if the approval would not count towards
     * any open rule.
     */
    readonly approve: (
      id: RunId,
      context: CommandContext,
      change: ReviewedChange
    ) => Effect.Effect<Replayable<ChangeApproval>, ApiError>
    /**
     * Withdraws an approval. Fails with `run_conflict` if svc has already carried the approval over to a plan in the lane.
     */
    readonly withdraw: (
      id: RunId,
      context: CommandContext,
      changeApprovalId: ChangeApprovalId
    ) => Effect.Effect<ChangeApproval, ApiError>
    /** Returns, in the caller's transaction, the valid approvals. Omits withdrawn approvals. */
    readonly live: (id: RunId) => Effect.Effect<ReadonlyArray<ChangeApprovalRow>>
    /** Returns true if the valid approvals are now enough for every approval rule of the Capsule. */
    readonly isApproved: (id: RunId) => Effect.Effect<boolean>
    /** Records, in the caller's transaction, the plan of the lane to which these approvals were carried over. */
    readonly carried: (approvals: ReadonlyArray<ChangeApprovalRow>, to: RunId) => Effect.Effect<void>
  }
>()("svc/actors/access/approval/ChangeApprovals") {
  static readonly layer = Layer.effect(
    ChangeApprovals,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const audit = yield* Audit
  const receipts = yield* Receipts
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
  const withSql = Effect.provideService(SqlClient.SqlClient, sql)

  const runOf = Effect.fnUntraced(function* (client: SqlClient.SqlClient, id: RunId) {
    const [run] = yield* Effect.orDie(RunRow.rows(client)`SELECT * FROM runs WHERE id = ${id}`)
    return run === undefined ? yield* notFound("Run") : run
  })

  const live = Effect.fnUntraced(function* (id: RunId) {
    return yield* ChangeApprovalRow.rows(sql)`SELECT * FROM change_approvals WHERE run_id = ${id}
      AND withdrawn_at IS NULL ORDER BY created_at, id`
  }, Effect.orDie)

  const isApproved = Effect.fn("ChangeApprovals.isApproved")(function* (id: RunId) {
    if ((yield* live(id)).length === 0) return false
    const [run] = yield* RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${id}`
    return run !== undefined && (yield* withSql(planApproval(run))).decision.state === "approved"
  }, Effect.orDie)

  const find = Effect.fnUntraced(function* (id: RunId, changeApprovalId: string) {
    const [row] = yield* Effect.orDie(ChangeApprovalRow.rows(sql)`SELECT * FROM change_approvals
      WHERE id = ${changeApprovalId} AND run_id = ${id}`)
    return row === undefined ? yield* notFound("Approval of a change") : row
  })

  const audited = (
    run: RunRow,
    context: CommandContext,
    action: string,
    { change_digest, comment, id, plan_digest, resolved_commit, subject }: ChangeApprovalRow
  ) =>
    audit.append({
      workspaceId: run.workspace_id,
      actor: context.actor,
      action,
      target: { kind: "run", id: run.id },
      capsuleId: run.capsule_id ?? undefined,
      runId: run.id,
      data: {
        type: run.type,
        changeApprovalId: id,
        approver: subject,
        planDigest: plan_digest,
        changeDigest: change_digest,
        commit: resolved_commit,
        ...(comment === null ? {} : { comment })
      },
      requestId: context.requestId
    })

  /** Records the approval, or finds the person's earlier approval. */
  const give = Effect.fnUntraced(function* (id: RunId, context: CommandContext, change: ReviewedChange) {
    const run = yield* runOf(sql, id)
    const refusal = changeRefusal(run, change)
    if (refusal !== undefined) return yield* refusal
    const { capsule_id, resolved_commit } = run
    if (capsule_id === null || resolved_commit === null || context.actor.subject === undefined) {
      return yield* Effect.die(new Error(`The change of the Run ${id} cannot be approved`))
    }
    const subject = Subject.make(context.actor.subject)
    const given = yield* live(id)
    const earlier = given.find((each) => each.subject === subject)
    if (earlier !== undefined) return earlier
    const { decision, facts, place, rules } = yield* withSql(planApproval(run))
    const behind = yield* withSql(peopleBehind({ subject, tokenId: context.actor.tokenId }))
    yield* requireEligible(openRules(decision), yield* withSql(approvalBy(place, subject, behind)), facts)
    const row: ChangeApprovalRow = {
      id: yield* withRandom(newId(ChangeApprovalId, "cha")),
      workspace_id: run.workspace_id,
      capsule_id,
      run_id: id,
      subject,
      behind: SubjectsJson.write(behind),
      plan_digest: change.planDigest,
      change_digest: change.changeDigest,
      resolved_commit,
      rules: rulesText(rules),
      comment: change.comment ?? null,
      created_at: yield* nowAfter(given.at(-1)?.created_at),
      withdrawn_at: null,
      withdrawn_by: null,
      carried_to_run_id: null
    }
    yield* Effect.orDie(sql`INSERT INTO change_approvals ${ChangeApprovalRow.values(sql, row)}`)
    yield* audited(run, context, "run.approve_change", row)
    yield* markReports(sql, id)
    return row
  })

  return ChangeApprovals.of({
    list: Effect.fn("ChangeApprovals.list")(function* (id) {
      yield* runOf(read, id)
      const rows = yield* Effect.orDie(ChangeApprovalRow.rows(read)`SELECT * FROM change_approvals
        WHERE run_id = ${id} ORDER BY created_at, id`)
      return rows.map(toChangeApproval)
    }),
    approve: Effect.fn("ChangeApprovals.approve")(function* (id, context, change) {
      const { idempotency } = change
      if (idempotency === undefined) {
        const row = yield* transaction(sql)(give(id, context, change))
        return { value: toChangeApproval(row), replayed: false }
      }
      const { workspace_id } = yield* runOf(read, id)
      const scope = { scope: workspace_id, actor: context.actorKey, route: "changeApprovals.approve" }
      return yield* receipts.once(scope, idempotency, {
        create: Effect.map(give(id, context, change), (row) => ({
          value: toChangeApproval(row),
          receipt: { resultId: row.id, firstStatus: 201 }
        })),
        replay: ({ resultId }) => Effect.map(find(id, resultId), toChangeApproval)
      })
    }),
    withdraw: Effect.fn("ChangeApprovals.withdraw")(function* (id, context, changeApprovalId) {
      const run = yield* runOf(sql, id)
      const row = yield* find(id, changeApprovalId)
      if (row.withdrawn_at !== null) return toChangeApproval(row)
      const [target] = yield* Effect.orDie(RunRow.some(sql, "id", "approved_at")`SELECT id, approved_at FROM runs
        WHERE id = ${row.carried_to_run_id} AND status = 'succeeded'`)
      if (target !== undefined && target.approved_at !== null) {
        return yield* new ApiError({
          code: "run_conflict",
          message: `The approval cannot be withdrawn: it has approved the Run ${target.id}. Withdraw the approval of that Run with POST /api/v1/runs/{runId}/cancel.`
        })
      }
      const withdrawn: ChangeApprovalRow = {
        ...row,
        withdrawn_at: yield* now,
        withdrawn_by: context.actor.subject === undefined ? null : Subject.make(context.actor.subject)
      }
      yield* Effect.orDie(
        sql`UPDATE change_approvals SET ${ChangeApprovalRow.changes(sql, withdrawn)} WHERE id = ${row.id}`
      )
      yield* audited(run, context, "run.withdraw_change_approval", withdrawn)
      yield* markReports(sql, id)
      return toChangeApproval(withdrawn)
    }, transaction(sql)),
    live,
    isApproved,
    carried: Effect.fn("ChangeApprovals.carried")(function* (approvals, to) {
      for (const { id } of approvals) {
        yield* sql`UPDATE change_approvals SET ${ChangeApprovalRow.changes(sql, { carried_to_run_id: to })}
          WHERE id = ${id}`
      }
    }, Effect.orDie)
  })
})
