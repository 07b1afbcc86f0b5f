import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { UncertainCode } from "../../../schema/records/UncertainGround.ts"
import type { Approver } from "../../../schema/records/Approval.ts"
import { peopleBehind, SubjectsJson } from "../account/PeopleBehind.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { nowAfter } from "../../base/Identity.ts"
import { decideApproval, openRules, waitingWords } from "./ApprovalDecision.ts"
import { AcknowledgedJson, type ChangeApprovalRow, RunApprovalRow } from "./ApprovalRows.ts"
import { requireEligible } from "./ApproverEligibility.ts"
import { approvalBy, type ApprovedPlan, type PlanApproval, planApproval } from "./PlanApproval.ts"
import { groundWords } from "./UncertainGround.ts"

/** An approval to record. */
export interface ApprovalToGive {
  readonly approver: Approver
  readonly comment?: string | undefined
  /** The personal access token that the approver used. */
  readonly tokenId?: string | undefined
  /** The uncertainties about existing objects that the approver acknowledges. svc itself acknowledges none. */
  readonly acknowledged?: ReadonlyArray<UncertainCode> | undefined
}

/** The result of recording an approval. `isNew`: the approver had not approved the plan before. */
export interface GivenResult {
  readonly isNew: boolean
  readonly isApproved: boolean
  /** The reason why the plan is still waiting; absent once it is approved. */
  readonly waiting: string | undefined
}

/**
 * Records the approvals of plans, and decides whether they are sufficient. The only writer of `run_approvals`. Every method works
 * in the caller's transaction, with the current rules and permissions.
 */
export class Approvals extends Context.Service<
  Approvals,
  {
    readonly of: (plan: ApprovedPlan) => Effect.Effect<PlanApproval>
    /**
     * Records an approval. Repeating an approval can only add acknowledgements. Fails with `permission_denied` if the
     * approval would not count towards any open rule, and with `failed_precondition` if it is uncertain which objects exist
     * and the approver does not acknowledge the uncertainty.
     */
    readonly give: (plan: ApprovedPlan, approval: ApprovalToGive) => Effect.Effect<GivenResult, ApiError>
    /**
     * Records approvals of the same change in a speculative plan as approvals of this plan. The caller must already have
     * decided that these approvals are sufficient.
     */
    readonly carry: (plan: Pick<ApprovedPlan, "id">, given: ReadonlyArray<ChangeApprovalRow>) => Effect.Effect<void>
    /**
     * Returns the reason why the plan may not be applied: an approval is missing, or nobody has acknowledged that objects may
     * exist outside the plan.
     */
    readonly obstacle: (plan: ApprovedPlan) => Effect.Effect<string | undefined>
    /**
     * Like `obstacle`, but for an apply that is about to start. Reads outside a transaction, without waiting for a writer.
     */
    readonly obstacleAtStart: (plan: ApprovedPlan) => Effect.Effect<string | undefined>
    /** Fails if the plan may not be applied. */
    readonly require: (plan: ApprovedPlan) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/approval/Approvals") {
  static readonly layer = Layer.effect(
    Approvals,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const withSql = Effect.provideService(SqlClient.SqlClient, sql)
      const of = (plan: ApprovedPlan) => withSql(planApproval(plan))

      const give = Effect.fn("Approvals.give")(function* (
        plan: ApprovedPlan,
        { acknowledged = [], approver, comment, tokenId }: ApprovalToGive
      ): Effect.fn.Return<GivenResult, ApiError> {
        const { decision, facts, given, ground, open: uncertain, place, teamNames } = yield* of(plan)
        const earlier = given.find((each) => each.approver === approver)
        const isNew = earlier === undefined
        const unnamed = groundWords(
          (isNew ? ground : uncertain).filter(({ code }) => approver === "service" || !acknowledged.includes(code))
        )
        const keys = AcknowledgedJson.write(ground.map(({ key }) => key))
        if (!isNew) {
          if (unnamed !== undefined) return yield* failedPrecondition(`Not approved. ${unnamed}`)
          if (uncertain.length > 0) {
            yield* Effect.orDie(sql`UPDATE run_approvals SET ${RunApprovalRow.changes(sql, { acknowledged: keys })}
              WHERE run_id = ${plan.id} AND approver = ${approver}`)
          }
          return { isNew, isApproved: decision.state === "approved", waiting: waitingWords(decision, teamNames) }
        }
        const behind = approver === "service" ? [] : yield* withSql(peopleBehind({ subject: approver, tokenId }))
        const own = yield* withSql(approvalBy(place, approver, behind))
        yield* requireEligible(openRules(decision), own, facts)
        if (unnamed !== undefined) return yield* failedPrecondition(`Not approved. ${unnamed}`)
        const at = yield* nowAfter(given.at(-1)?.created_at)
        const row = {
          run_id: plan.id,
          approver,
          comment: comment ?? null,
          created_at: at,
          behind: SubjectsJson.write(behind),
          acknowledged: ground.length === 0 ? null : keys
        }
        yield* Effect.orDie(sql`INSERT INTO run_approvals ${RunApprovalRow.values(sql, row)}`)
        const decided = decideApproval({ ...facts, approvals: [...facts.approvals, own] })
        return { isNew, isApproved: decided.state === "approved", waiting: waitingWords(decided, teamNames) }
      })

      const carry = Effect.fn("Approvals.carry")(function* (
        plan: Pick<ApprovedPlan, "id">,
        given: ReadonlyArray<ChangeApprovalRow>
      ) {
        let at: string | undefined
        for (const { behind, comment, subject } of given) {
          at = yield* nowAfter(at)
          const row = { run_id: plan.id, approver: subject, comment, created_at: at, behind, acknowledged: null }
          yield* sql`INSERT INTO run_approvals ${RunApprovalRow.values(sql, row)}`
        }
      }, Effect.orDie)

      const reasonOf = ({ decision, open, rules, teamNames }: PlanApproval) =>
        groundWords(open) ?? (rules.length === 0 ? undefined : waitingWords(decision, teamNames))

      const obstacle = Effect.fn("Approvals.obstacle")((plan: ApprovedPlan) => Effect.map(of(plan), reasonOf))

      const obstacleAtStart = Effect.fn("Approvals.obstacleAtStart")((plan: ApprovedPlan) =>
        Effect.map(planApproval(plan), reasonOf).pipe(Effect.provideService(SqlClient.SqlClient, read))
      )

      const require = Effect.fn("Approvals.require")(function* (plan: ApprovedPlan) {
        const reason = yield* obstacle(plan)
        if (reason !== undefined) return yield* failedPrecondition(`Not applied. ${reason}`)
      })

      return Approvals.of({ of, give, carry, obstacle, obstacleAtStart, require })
    })
  )
}
