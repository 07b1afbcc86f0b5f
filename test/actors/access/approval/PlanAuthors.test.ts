import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { ApprovalRules } from "../../../../actors/access/approval/ApprovalRules.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { AutomationMembers } from "../../../../actors/access/member/AutomationMembers.ts"
import { AutomationTokens } from "../../../../actors/access/member/AutomationTokens.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { Teams } from "../../../../actors/access/team/Teams.ts"
import type { CommandContext } from "../../../../schema/commands/Command.ts"
import type { ApprovalProblem } from "../../../../schema/records/Approval.ts"
import type { CapsuleId, RunId } from "../../../../schema/records/Ids.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, freshKey, planned, settled, stepped } from "../../../support/Journey.ts"
import { newMember, TestPlane } from "../../../support/TestPlane.ts"
import {
  admin,
  approvalSuite,
  approve,
  ownerScope,
  ruled,
  standing,
  subjectOf,
  tokenOf
} from "../../support/ApprovalSteps.ts"
import { newCommit, pureModule } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const tests = approvalSuite()

/** Rule that requires somebody else's approval. The authors of a plan can never approve it. */
const someoneElse = ruled({ approvers: 1, planAuthorCounts: false })

const scopeOf = (context: CommandContext) =>
  Effect.map(TestPlane, ({ workspaceId }) => ({ workspaceId, acting: { subject: subjectOf(context) } }))

/** Creates an admin automation, for which `minter` issues a token. Returns the context of a caller with that token. */
const automationOf = Effect.fnUntraced(function* (maker: CommandContext, minter: CommandContext = maker) {
  const scope = yield* scopeOf(maker)
  const { subject } = yield* (yield* AutomationMembers).create(maker, scope, { displayName: "ci", role: "admin" })
  const { token } = yield* (yield* AutomationTokens).create(minter, yield* scopeOf(minter), subject, {
    name: "ci",
    scopes: ["read", "write"],
    expiresAt: new Date(Date.now() + 86_400_000).toISOString()
  })
  const context: CommandContext = {
    actor: { kind: "token", subject, tokenId: token.token_id },
    actorKey: token.token_id
  }
  return context
})

/**
 * Returns the reason why this person's approval does not count, or `undefined` if the approval counts. Checks that the page
 * and the error report the same reason.
 */
const problemOf = Effect.fnUntraced(function* (planId: RunId, approver: CommandContext) {
  const run = yield* (yield* Runs).read(planId)
  const { own } = yield* standing(run.id, approver)
  if (own.problem === undefined) return undefined
  expect((yield* Effect.flip(approve(approver, run))).code).toBe("permission_denied")
  return own.problem
})

const plannedBy = Effect.fnUntraced(function* (starter: CommandContext, capsuleId: CapsuleId) {
  return yield* settled((yield* (yield* CapsuleCommands).Plan(capsuleId, { context: starter })).value.id)
})

describe("the author of a plan cannot approve the plan under a rule that requires somebody else", () => {
  tests.live(
    "the authors of an automation's plan include the people who created the automation or issued its token",
    () =>
      Effect.gen(function* () {
        const { capsuleId } = yield* planned("automation", pureModule)
        yield* someoneElse
        const [maker, minter, other, owner] = [yield* admin, yield* admin, yield* admin, (yield* TestPlane).context]
        const own = yield* automationOf(maker)
        const shared = yield* automationOf(maker, minter)
        // An automation created another automation. The people responsible for the first automation are also responsible for
        // the second.
        const nested = yield* automationOf(own, owner)
        const rows: ReadonlyArray<
          readonly [title: string, starter: CommandContext, approver: CommandContext, ApprovalProblem | undefined]
        > = [
          ["the person who started it", maker, maker, "plan_author"],
          ["the person whose token started it", tokenOf(maker), maker, "plan_author"],
          ["another person", maker, other, undefined],
          ["the maker of the automation", own, maker, "automation_author"],
          ["another person than the maker", own, other, undefined],
          ["the maker, when somebody else minted the token", shared, maker, "automation_author"],
          ["who minted the token", shared, minter, "automation_author"],
          ["the maker of the maker", nested, maker, "automation_author"]
        ]
        for (const [title, starter, approver, expected] of rows) {
          const plan = yield* plannedBy(starter, capsuleId)
          expect([title, yield* problemOf(plan.id, approver)]).toEqual([title, expected])
        }
        const plan = yield* plannedBy(shared, capsuleId)
        const { authors } = yield* standing(plan.id)
        expect(authors[0]).toEqual({ subject: subjectOf(shared), part: "starter" })
        expect(new Set(authors.slice(1).map(({ part, subject }) => `${part} ${subject}`))).toEqual(
          new Set([`automation ${subjectOf(maker)}`, `automation ${subjectOf(minter)}`])
        )
        expect((yield* approve(other, plan)).status).toBe("succeeded")
      })
  )

  tests.live("every kind of plan records its authors", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* TestPlane
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const { capsule } = yield* active("kinds-of-plan", pureModule)
      yield* someoneElse
      const [maker, other] = [yield* admin, yield* admin]
      const robot = yield* automationOf(maker)
      const guard = Effect.map(capsules.read(capsule.id), ({ installConfigReAdoption }) => ({
        expected: { authorityGuard: installConfigReAdoption.authorityGuard }
      }))
      const kinds = [
        ["plan", Effect.map(capsuleCommands.Plan(capsule.id, { context: robot }), ({ value }) => value)],
        ["reconcile", Effect.map(capsuleCommands.ReconcilePlan(capsule.id, { context: robot }), ({ value }) => value)],
        [
          "rollback",
          Effect.flatMap(capsules.stateVersions(capsule.id, { limit: 1 }), ({ items: [first] }) =>
            first === undefined ? Effect.die("no state") : runs.rollbackPlan(robot, first.id)
          )
        ],
        [
          "group",
          Effect.gen(function* () {
            // A group plans only stale Capsules, so the Capsule must be stale.
            yield* newCommit(capsule.id)
            const { runGroup } = yield* capsules.planUpdate(robot, workspaceId, [capsule.id])
            const [run] = yield* eventually(
              Effect.map(runs.group(runGroup.id), (group) => group.runs),
              (found) => found.length > 0
            )
            return run ?? (yield* Effect.die("no plan"))
          })
        ],
        [
          "configuration",
          Effect.flatMap(guard, (expected) =>
            capsuleCommands.ConfigurationPlan(capsule.id, {
              context: robot,
              request: expected,
              idempotency: freshKey()
            })
          ).pipe(Effect.map(({ value }) => value.run))
        ],
        ["destroy", Effect.map(capsuleCommands.DestroyPlan(capsule.id, { context: robot }), ({ value }) => value)]
      ] as const
      for (const [title, start] of kinds) {
        const plan = yield* settled((yield* start).id)
        expect([title, plan.status]).toEqual([title, "waiting_approval"])
        expect([title, yield* problemOf(plan.id, maker)]).toEqual([title, "automation_author"])
        expect([title, yield* problemOf(plan.id, other)]).toEqual([title, undefined])
        yield* runCommands.Cancel(plan.id, { context: other, reason: "judged" })
      }
      const plans = yield* RevisionPlans
      const revisionPlanCommands = yield* RevisionPlanCommands
      const { value } = yield* plans.create(robot, capsule.id, { ref: "kinds-of-plan" }, freshKey())
      const revision = yield* stepped(revisionPlanCommands.Reconcile(value.id, { context: robot }))
      if (revision.planRunId === undefined) return yield* Effect.die("no plan")
      const plan = yield* settled(revision.planRunId)
      expect(yield* problemOf(plan.id, maker)).toBe("automation_author")
    })
  )

  tests.live("whoever turned on auto-update or last changed it is an author of the plans that auto-update starts", () =>
    Effect.gen(function* () {
      const { commit } = yield* TestPlane
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const { capsule } = yield* active("auto", pureModule)
      yield* someoneElse
      const [ann, bea, cleo, other] = [yield* admin, yield* admin, yield* admin, yield* admin]
      const robot = yield* automationOf(cleo)
      let commits = 0
      const followed = Effect.gen(function* () {
        commits += 1
        yield* commit("auto", { ...pureModule, "notes.txt": `${commits}` })
        yield* settled((yield* (yield* Sources).sync(ann, capsule.sourceId, {})).id)
        const { resolvedCommit } = (yield* (yield* Sources).snapshots(capsule.sourceId, { limit: 1 })).items[0] ?? {}
        const decision = yield* eventually(
          Effect.map(capsules.autoUpdateDecisions(capsule.id, { limit: 1 }), ({ items }) => items[0]),
          (found) => found?.reason === "approval" && found.resolvedCommit === resolvedCommit
        )
        if (decision?.runId === undefined) return yield* Effect.die("no plan")
        return yield* (yield* Runs).read(decision.runId)
      })
      const set = (context: CommandContext, autoUpdate: { readonly enabled?: boolean; readonly apply?: boolean }) =>
        capsuleCommands.Update(capsule.id, { context, autoUpdate })
      const author = "auto_update_author"
      yield* set(ann, { enabled: true, apply: true })
      const first = yield* followed
      expect(yield* problemOf(first.id, ann)).toBe(author)
      expect(yield* problemOf(first.id, bea)).toBeUndefined()
      // A later change does not change the recorded authors of an earlier plan.
      yield* set(bea, { apply: false })
      yield* set(bea, { apply: true })
      expect(yield* problemOf(first.id, ann)).toBe(author)
      expect(yield* problemOf(first.id, bea)).toBeUndefined()
      const second = yield* followed
      expect(yield* problemOf(second.id, ann)).toBe(author)
      expect(yield* problemOf(second.id, bea)).toBe(author)
      expect(yield* problemOf(second.id, other)).toBeUndefined()
      // The person who turns auto-update on again becomes the only person responsible. If an automation turns it on, the
      // people behind the automation are responsible as well.
      yield* set(robot, { enabled: false })
      yield* set(robot, { enabled: true, apply: true })
      const third = yield* followed
      expect(yield* problemOf(third.id, cleo)).toBe(author)
      expect(yield* problemOf(third.id, ann)).toBeUndefined()
      expect((yield* approve(ann, third)).status).toBe("succeeded")
    })
  )
})

describe("Plan authors: changes between plan and approval", () => {
  tests.live("an automation that an author created, or issued a token for, does not count as a second approver", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { capsuleId } = yield* planned("second", pureModule)
      const rule = yield* someoneElse
      yield* (yield* ApprovalRules).update(context, yield* ownerScope, rule.id, { automationCounts: true })
      const [author, other] = [yield* admin, yield* admin]
      const plan = yield* plannedBy(author, capsuleId)
      expect(yield* problemOf(plan.id, yield* automationOf(author))).toBe("author_automation")
      expect(yield* problemOf(plan.id, yield* automationOf(other, author))).toBe("author_automation")
      const robot = yield* automationOf(other)
      expect((yield* approve(robot, plan)).status).toBe("succeeded")
      // When the automation approves, svc records the people responsible for the automation. Later changes do not alter that
      // record.
      expect((yield* standing(plan.id)).state).toBe("approved")
    })
  )

  tests.live("current team members can approve, but an author's automation never can", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const teams = yield* Teams
      const { plan } = yield* planned("team", pureModule)
      const scope = yield* ownerScope
      const team = yield* teams.create(context, scope, { name: "leads", members: [] })
      yield* ruled({ approvers: 1, planAuthorCounts: false, automationCounts: true, teamId: team.id })
      const [robot, second] = [yield* automationOf(context), yield* newMember(workspaceId, context, "admin")]
      expect(yield* problemOf(plan.id, second)).toBe("team")
      yield* teams.update(context, scope, team.id, {
        members: [subjectOf(context), subjectOf(robot), subjectOf(second)]
      })
      expect(yield* problemOf(plan.id, context)).toBe("plan_author")
      expect(yield* problemOf(plan.id, robot)).toBe("author_automation")
      // A person added to the team after the plan was created can approve the plan, because svc reads the current team. The
      // activity shows who added the person.
      expect((yield* approve(second, plan)).status).toBe("succeeded")
    })
  )

  tests.live(
    "current rules and roles apply to an earlier plan, and the activity records an owner who relaxes a rule",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const rules = yield* ApprovalRules
        const { plan } = yield* planned("lowered", pureModule)
        const rule = yield* ruled({ approvers: 2, planAuthorCounts: false })
        const promoted = yield* newMember(workspaceId, context, "member")
        expect(yield* problemOf(plan.id, promoted)).toBe("role")
        yield* (yield* Members).update(context, yield* scopeOf(context), subjectOf(promoted), { role: "admin" })
        expect((yield* approve(promoted, plan)).status).toBe("waiting_approval")
        yield* rules.update(context, yield* ownerScope, rule.id, { approvers: 1 })
        expect((yield* standing(plan.id)).state).toBe("approved")
        yield* rules.update(context, yield* ownerScope, rule.id, { approvers: 3 })
        expect((yield* standing(plan.id)).state).toBe("waiting")
      })
  )

  tests.live("without an approval rule, one approval is enough, even if it comes from an author of the plan", () =>
    Effect.gen(function* () {
      const { capsuleId } = yield* planned("no-rule", pureModule)
      const maker = yield* admin
      const plan = yield* plannedBy(yield* automationOf(maker), capsuleId)
      expect((yield* approve(maker, plan)).status).toBe("succeeded")
    })
  )
})
