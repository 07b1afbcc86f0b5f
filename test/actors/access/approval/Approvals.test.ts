import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ApprovalRules } from "../../../../actors/access/approval/ApprovalRules.ts"
import { Approvals } from "../../../../actors/access/approval/Approvals.ts"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Teams } from "../../../../actors/access/team/Teams.ts"
import type { Subject } from "../../../../schema/records/Ids.ts"
import { planned, settled } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import {
  admin,
  applyRefused,
  approvalSuite,
  approve,
  ownerScope,
  ruled,
  standing,
  subjectOf,
  tokenOf
} from "../../support/ApprovalSteps.ts"
import { pureModule } from "../../support/PureRunner.ts"

const tests = approvalSuite()

describe("an approval", () => {
  tests.live(
    "if the approver of a plan loses the right to approve, another person must approve the plan before it is applied",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const { plan } = yield* planned("lapse", pureModule)
        yield* ruled()
        const [second, third] = [yield* admin, yield* admin]
        yield* approve(context, plan)
        expect((yield* approve(second, plan)).status).toBe("succeeded")
        expect((yield* standing(plan.id)).state).toBe("approved")
        const scope = { workspaceId, acting: { subject: subjectOf(context) } }
        yield* (yield* Members).update(context, scope, subjectOf(second), { role: "member" })
        expect(yield* standing(plan.id)).toMatchObject({
          state: "lapsed",
          approvals: [{ approver: subjectOf(context) }, { approver: subjectOf(second), problem: "role" }],
          rules: [{ missing: 1 }]
        })
        expect((yield* applyRefused(plan.id)).message).toContain("the approver's role does not allow it")
        expect((yield* approve(third, plan)).status).toBe("succeeded")
        const { value } = yield* (yield* Runs).apply(context, plan.id, undefined)
        expect((yield* settled(value.id)).status).toBe("succeeded")
      })
  )

  tests.live("an approval keeps its position among approvals with the same timestamp", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { plan } = yield* planned("same-moment", pureModule)
      yield* ruled({ approvers: 4 })
      const approvers = [yield* admin, yield* admin, yield* admin].map(subjectOf).toSorted().toReversed()
      const approvals = yield* Approvals
      const row = yield* (yield* RunLedger).find(plan.id)
      if (row === undefined) return yield* Effect.die("no plan")
      const give = (approver: Subject) => approvals.give(row, { approver })
      yield* Effect.forEach(approvers, give).pipe(transaction(sql), Effect.provide(TestClock.layer()))
      expect((yield* standing(plan.id)).approvals.map(({ approver }) => approver)).toEqual(approvers)
    })
  )

  tests.live(
    "svc rejects an approval, and does not record it, if the approver does not count under any open rule",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const second = yield* admin
        const third = yield* admin
        const teams = yield* Teams
        const { plan } = yield* planned("refused", pureModule)
        const team = yield* teams.create(context, yield* ownerScope, { name: "sre", members: [subjectOf(second)] })
        yield* ruled({ approvers: 1, teamId: team.id, planAuthorCounts: false })
        const refusal = yield* Effect.flip(approve(third, plan))
        expect([refusal.code, refusal.message]).toEqual([
          "permission_denied",
          "This approval would not count: the approver is not in the team that has to approve."
        ])
        expect((yield* standing(plan.id, third)).own).toEqual({ status: "does_not_count", problem: "team" })
        yield* teams.update(context, yield* ownerScope, team.id, { members: [subjectOf(second), subjectOf(context)] })
        expect((yield* Effect.flip(approve(context, plan))).message).toContain("the author of the plan does not count")
        expect((yield* standing(plan.id)).approvals).toEqual([])
        yield* approve(second, plan)
        const { items } = yield* (yield* Audit).list(
          workspaceId,
          subjectOf(context),
          { action: "run.approve" },
          { limit: 1 }
        )
        expect(items[0]).toMatchObject({ actor: { subject: subjectOf(second) }, runId: plan.id })
        // The rule requires a team member, so suspending the member invalidates the approval.
        expect((yield* Effect.flip(teams.remove(context, yield* ownerScope, team.id))).code).toBe("failed_precondition")
        const scope = { workspaceId, acting: { subject: subjectOf(context) } }
        yield* (yield* Members).update(context, scope, subjectOf(second), { status: "suspended" })
        expect((yield* standing(plan.id)).state).toBe("lapsed")
        const [left] = (yield* teams.list(workspaceId, { limit: 10 })).items
        expect(left?.members).toEqual([subjectOf(context)])
      })
  )

  tests.live("an approval by an author of the commit does not count under a rule that excludes authors", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const second = yield* admin
      const { plan } = yield* planned("authors", pureModule)
      yield* ruled({ approvers: 1, commitAuthorCounts: false })
      // The commit's author has no account.
      expect((yield* standing(plan.id)).own).toEqual({ status: "counts" })
      const authors = (text: string | null) =>
        sql`UPDATE source_snapshots SET authors = ${text} WHERE id = ${plan.sourceSnapshotId ?? ""}`
      yield* authors(JSON.stringify(["owner@example.test"]))
      expect((yield* standing(plan.id)).own).toEqual({ status: "does_not_count", problem: "commit_author" })
      expect((yield* standing(plan.id, second)).own).toEqual({ status: "counts" })
      yield* authors(null)
      expect((yield* Effect.flip(approve(context, plan))).message).toContain("the authors of the commit are unknown")
      yield* authors("[]")
      expect((yield* Effect.flip(approve(second, plan))).code).toBe("permission_denied")
    })
  )

  tests.live("an automation member's approval counts only for a rule that allows automation", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { plan } = yield* planned("robot", pureModule)
      const robot = yield* admin
      yield* sql`UPDATE users SET kind = 'automation' WHERE subject = ${subjectOf(robot)}`
      const rule = yield* ruled({ approvers: 1 })
      expect((yield* Effect.flip(approve(tokenOf(robot), plan))).message).toContain(
        "approvals by automation do not count"
      )
      const { context } = yield* TestPlane
      yield* (yield* ApprovalRules).update(context, yield* ownerScope, rule.id, { automationCounts: true })
      expect((yield* approve(tokenOf(robot), plan)).status).toBe("succeeded")
      expect((yield* standing(plan.id)).approvals).toMatchObject([{ kind: "automation" }])
    })
  )

  tests.live(
    "an approval counts for rules added later, and rules apply only in their own Project and environment",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const { plan } = yield* planned("late", pureModule)
        yield* approve(context, plan)
        const rule = yield* ruled({ environment: "production" })
        expect((yield* standing(plan.id)).rules).toEqual([])
        yield* (yield* ApprovalRules).update(context, yield* ownerScope, rule.id, { environment: "test" })
        expect((yield* applyRefused(plan.id)).message).toContain("waits for 1 more approval")
        yield* (yield* ApprovalRules).update(context, yield* ownerScope, rule.id, { approvers: 1 })
        const { value } = yield* (yield* Runs).apply(context, plan.id, undefined)
        expect((yield* settled(value.id)).status).toBe("succeeded")
      })
  )
})

tests.live("only owners change approval rules and teams, regardless of the request's credential", () =>
  Effect.gen(function* () {
    const { workspaceId } = yield* TestPlane
    const other = yield* admin
    const scope = { workspaceId, subject: subjectOf(other) }
    const rule = yield* ruled()
    const rules = yield* ApprovalRules
    const teams = yield* Teams
    const refused = yield* Effect.all([
      Effect.flip(rules.create(other, scope, { approvers: 1 })),
      Effect.flip(rules.update(other, scope, rule.id, { approvers: 1 })),
      Effect.flip(rules.remove(other, scope, rule.id)),
      Effect.flip(teams.create(other, scope, { name: "mine" }))
    ])
    expect(refused.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => "permission_denied"))
  })
)

tests.live(
  "an approval rule carries approvals over only after an owner enables carry-over, and the audit log records the change",
  () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const rules = yield* ApprovalRules
      const rule = yield* ruled()
      expect(rule.carryOver).toBe("off")
      const changed = yield* rules.update(context, yield* ownerScope, rule.id, { carryOver: "approval_and_apply" })
      expect(changed.carryOver).toBe("approval_and_apply")
      // Changing other fields of the rule leaves this setting unchanged.
      expect((yield* rules.update(context, yield* ownerScope, rule.id, { approvers: 1 })).carryOver).toBe(
        "approval_and_apply"
      )
      const filter = { action: "approval_rule.update" }
      const { items } = yield* (yield* Audit).list(workspaceId, subjectOf(context), filter, { limit: 1 })
      expect(items[0]?.data).toMatchObject({ carryOver: "approval_and_apply" })
    })
)
