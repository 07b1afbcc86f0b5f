import { afterAll, afterEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ApprovalRules } from "../../../actors/approval/ApprovalRules.ts"
import { Approvals } from "../../../actors/approval/Approvals.ts"
import { readRunApprovals } from "../../../actors/approval/RunApprovalReads.ts"
import { Audit } from "../../../actors/audit/Audit.ts"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { transaction } from "../../../actors/database/Transaction.ts"
import { Members } from "../../../actors/member/Members.ts"
import { RunLedger } from "../../../actors/run/RunLedger.ts"
import { Runs } from "../../../actors/run/Runs.ts"
import { Sources } from "../../../actors/source/Sources.ts"
import { Teams } from "../../../actors/team/Teams.ts"
import type { NewRule } from "../../../schema/api/ApprovalsApi.ts"
import type { CommandContext } from "../../../schema/protocol/Command.ts"
import { type CapsuleId, type RunId, Subject } from "../../../schema/records/Ids.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { suite } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { active, applied, planned, replanned, settled } from "../../support/Journey.ts"
import { newMember, TestPlane, testPlane } from "../../support/TestPlane.ts"
import { newCommit, pureModule, pureModules, pureRunner } from "../support/PureRunner.ts"

setDefaultTimeout(60_000)

const modules = pureModules()
const tests = suite(testPlane({ runner: pureRunner(modules) }))
afterAll(tests.dispose)

const subjectOf = ({ actor }: CommandContext) => Subject.make(actor.subject ?? "")

const ownerScope = Effect.map(TestPlane, ({ context, workspaceId }) => ({ workspaceId, subject: subjectOf(context) }))

/** Requires two approvals unless the test says otherwise; the plan's author counts, so one person could try to count twice. */
const ruled = Effect.fnUntraced(function* (rule: Partial<NewRule> = {}) {
  const { context } = yield* TestPlane
  return yield* (yield* ApprovalRules).create(context, yield* ownerScope, {
    approvers: 2,
    planAuthorCounts: true,
    ...rule
  })
})

const withoutRules = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM approval_rules`
})
afterEach(() => tests.runPromise(withoutRules))

const admin = Effect.gen(function* () {
  const { context, workspaceId } = yield* TestPlane
  return yield* newMember(workspaceId, context, "admin")
})

/** A person's token: a second credential with the same subject. */
const tokenOf = (context: CommandContext): CommandContext => ({
  actor: { kind: "token", subject: subjectOf(context), tokenId: "pat_aaaaaaaaaaaaaaaaaaaaaaaa" },
  actorKey: "pat_aaaaaaaaaaaaaaaaaaaaaaaa"
})

const approve = Effect.fnUntraced(function* (context: CommandContext, { id, planDigest }: Run) {
  return yield* (yield* Runs).approve(context, id, planDigest === undefined ? {} : { planDigest })
})

const applyRefused = Effect.fnUntraced(function* (planRunId: RunId) {
  const { context } = yield* TestPlane
  return yield* Effect.flip((yield* Runs).apply(context, planRunId, undefined))
})

const standing = Effect.fnUntraced(function* (id: RunId, context?: CommandContext) {
  const own = context ?? (yield* TestPlane).context
  return yield* readRunApprovals(id, subjectOf(own))
})

/** One person with a session and a token cannot get the plan applied; a second person can. */
const needsTwo = Effect.fnUntraced(function* (plan: Run) {
  const { context } = yield* TestPlane
  expect((yield* approve(context, plan)).status).toBe("waiting_approval")
  expect((yield* approve(tokenOf(context), plan)).status).toBe("waiting_approval")
  expect((yield* applyRefused(plan.id)).code).toBe("failed_precondition")
  expect(yield* standing(plan.id)).toMatchObject({
    state: "waiting",
    approvals: [{ approver: subjectOf(context), kind: "person" }],
    rules: [{ approvedBy: [subjectOf(context)], missing: 1 }],
    own: { status: "given" }
  })
  const second = yield* admin
  expect((yield* standing(plan.id, second)).own).toEqual({ status: "counts" })
  expect((yield* approve(second, plan)).status).toBe("succeeded")
  const { value } = yield* (yield* Runs).apply(context, plan.id, undefined)
  expect((yield* settled(value.id)).status).toBe("succeeded")
})

describe("every way to apply needs the approvals that the rules require", () => {
  tests.live("an install, by a person and by their token", () =>
    Effect.gen(function* () {
      yield* ruled()
      yield* needsTwo((yield* planned("install", pureModule)).plan)
    })
  )

  tests.live("a plan, a plan that reverts drift, a rollback and a destroy plan", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* Capsules
      const runs = yield* Runs
      const { capsule } = yield* active("kinds", pureModule)
      yield* ruled()
      yield* needsTwo(yield* replanned(capsule.id))
      yield* needsTwo(yield* settled((yield* capsules.reconcilePlan(context, capsule.id, undefined)).value.id))
      const { items } = yield* capsules.stateVersions(capsule.id, { limit: 10 })
      const first = items.at(-1)
      if (first === undefined) return yield* Effect.die("no state")
      yield* needsTwo(yield* settled((yield* runs.rollbackPlan(context, first.id)).id))
      yield* needsTwo(yield* settled((yield* capsules.destroyPlan(context, capsule.id, undefined)).value.id))
    })
  )

  tests.live("a group, its waves, and the retry of a Capsule in the group", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const capsules = yield* Capsules
      const runs = yield* Runs
      const { capsule } = yield* active("group", pureModule)
      yield* ruled()
      yield* newCommit(capsule.id)
      const { runGroup } = yield* capsules.planUpdate(context, workspaceId)
      const planOf = (id: CapsuleId) =>
        eventually(
          Effect.map(runs.group(runGroup.id), (group) =>
            group.runs.find((run) => run.capsuleId === id && run.status === "waiting_approval")
          ),
          (run) => run !== undefined
        )
      const plan = yield* planOf(capsule.id)
      if (plan === undefined) return yield* Effect.die("no plan")
      expect((yield* runs.approveGroup(context, runGroup.id, {})).runGroup.status).toBe("waiting_approval")
      expect((yield* runs.approveGroup(tokenOf(context), runGroup.id, {})).runGroup.status).toBe("waiting_approval")
      expect((yield* applyRefused(plan.id)).code).toBe("failed_precondition")
      // Another plan for the same Capsule starts without an approval.
      const again = yield* replanned(capsule.id)
      expect(again.runGroupId).toBe(runGroup.id)
      expect((yield* applyRefused(again.id)).code).toBe("failed_precondition")
      yield* runs.approveGroup(context, runGroup.id, {})
      yield* runs.approveGroup(yield* admin, runGroup.id, {})
      expect((yield* runs.read(again.id)).status).toBe("succeeded")
      const { value } = yield* runs.apply(context, again.id, undefined)
      expect((yield* settled(value.id)).status).toBe("succeeded")
    })
  )

  tests.live("an auto-update waits, unless a rule names automation", () =>
    Effect.gen(function* () {
      const { commit, context } = yield* TestPlane
      const capsules = yield* Capsules
      const runs = yield* Runs
      const { capsule } = yield* active("follow", pureModule)
      yield* capsules.update(context, capsule.id, { autoUpdate: { enabled: true, apply: true } })
      const followed = Effect.fnUntraced(function* (text: string, decision: string) {
        yield* commit("follow", { ...pureModule, "notes.txt": text })
        yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
        return yield* eventually(
          Effect.map(capsules.autoUpdateDecisions(capsule.id, { limit: 1 }), ({ items }) => items[0]),
          (found) => found?.reason === decision
        )
      })
      const rule = yield* ruled({ approvers: 1 })
      const waits = yield* followed("one", "approval")
      expect(waits?.message).toContain("1 more approval by admins and owners")
      if (waits?.runId === undefined) return yield* Effect.die("no plan")
      const plan = yield* runs.read(waits.runId)
      expect([plan.status, plan.trigger]).toEqual(["waiting_approval", "auto_update"])
      expect((yield* applyRefused(plan.id)).code).toBe("failed_precondition")
      yield* (yield* ApprovalRules).update(context, yield* ownerScope, rule.id, { automationCounts: true })
      const taken = yield* followed("two", "applied")
      const apply = yield* settled(taken?.runId ?? plan.id)
      expect([apply.type, apply.status]).toEqual(["apply", "succeeded"])
      // When automation is named alongside a person, it counts as one of two.
      yield* (yield* ApprovalRules).update(context, yield* ownerScope, rule.id, { approvers: 2 })
      const half = yield* followed("three", "approval")
      expect((yield* standing(half?.runId ?? plan.id)).approvals).toMatchObject([
        { approver: "service", kind: "automation" }
      ])
      const rest = yield* runs.read(half?.runId ?? plan.id)
      expect((yield* approve(context, rest)).status).toBe("succeeded")
      expect((yield* applied(yield* replanned(capsule.id)).pipe(Effect.flip)).code).toBe("failed_precondition")
    })
  )
})

// No other code creates an apply or uses a plan, including the operator's commands.
tests.live("and only one place in the code creates an apply", () =>
  Effect.sync(() => {
    const files = ["actors", "src", "runner"].flatMap((room) =>
      readdirSync(room, { recursive: true, encoding: "utf8" }).flatMap((name) =>
        /\.tsx?$/.test(name) ? [join(room, name)] : []
      )
    )
    const using = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(file, "utf8"))).sort()
    expect(using(/\.usePlan\(/)).toEqual(["actors/capsule/CapsuleRuns.ts"])
    expect(using(/\.createApply\(/)).toEqual(["actors/capsule/FollowedApply.ts", "actors/capsule/PlanCommands.ts"])
    expect(using(/lifecycle\.approve\(/)).toEqual([
      "actors/capsule/FollowedApply.ts",
      "actors/run-commands/RunBehavior.ts"
    ])
  })
)

describe("an approval", () => {
  tests.live("lapses when its approver loses the right, until somebody else approves", () =>
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

  tests.live("of the same moment keeps its place among the others", () =>
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

  tests.live("by somebody whom no open rule requires is refused, and leaves no trace", () =>
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
      // A rule names the team, and a suspended member leaves it.
      expect((yield* Effect.flip(teams.remove(context, yield* ownerScope, team.id))).code).toBe("failed_precondition")
      const scope = { workspaceId, acting: { subject: subjectOf(context) } }
      yield* (yield* Members).update(context, scope, subjectOf(second), { status: "suspended" })
      expect((yield* standing(plan.id)).state).toBe("lapsed")
      const [left] = (yield* teams.list(workspaceId, { limit: 10 })).items
      expect(left?.members).toEqual([subjectOf(context)])
    })
  )

  tests.live("by an author of the commit does not count if a rule says so", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const second = yield* admin
      const { plan } = yield* planned("authors", pureModule)
      yield* ruled({ approvers: 1, commitAuthorCounts: false })
      // The repository's own author belongs to no account.
      expect((yield* standing(plan.id)).own).toEqual({ status: "counts" })
      const authors = (text: string | null) =>
        sql`UPDATE source_snapshots SET authors = ${text} WHERE id = ${plan.sourceSnapshotId ?? ""}`
      yield* authors(JSON.stringify(["owner@example.test"]))
      expect((yield* standing(plan.id)).own).toEqual({ status: "does_not_count", problem: "commit_author" })
      expect((yield* standing(plan.id, second)).own).toEqual({ status: "counts" })
      yield* authors(null)
      expect((yield* Effect.flip(approve(context, plan))).message).toContain("it is not known who wrote the commit")
      yield* authors("[]")
      expect((yield* Effect.flip(approve(second, plan))).code).toBe("permission_denied")
    })
  )

  tests.live("by an automation member counts only for a rule that names automation", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { plan } = yield* planned("robot", pureModule)
      const robot = yield* admin
      yield* sql`UPDATE users SET kind = 'automation' WHERE subject = ${subjectOf(robot)}`
      const rule = yield* ruled({ approvers: 1 })
      expect((yield* Effect.flip(approve(tokenOf(robot), plan))).message).toContain("automation does not count")
      const { context } = yield* TestPlane
      yield* (yield* ApprovalRules).update(context, yield* ownerScope, rule.id, { automationCounts: true })
      expect((yield* approve(tokenOf(robot), plan)).status).toBe("succeeded")
      expect((yield* standing(plan.id)).approvals).toMatchObject([{ kind: "automation" }])
    })
  )

  tests.live("given before the rule existed counts for it, and rules bind only their Project and environment", () =>
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

tests.live("only owners change rules and teams, whatever credential the request uses", () =>
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
