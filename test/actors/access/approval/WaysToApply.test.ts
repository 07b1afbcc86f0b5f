import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ApprovalRules } from "../../../../actors/access/approval/ApprovalRules.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { type CapsuleId } from "../../../../schema/records/Ids.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, applied, planned, replanned, settled } from "../../../support/Journey.ts"
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
import { newCommit, pureModule } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const tests = approvalSuite()

/**
 * Checks that one person cannot get the plan applied by approving with both a session and a token, and that the approval of
 * a second person is enough.
 */
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

describe("Paths to apply", () => {
  tests.live(
    "an install needs the approvals that its rules require, and an approval by a person and another by a token of that person count once",
    () =>
      Effect.gen(function* () {
        yield* ruled()
        yield* needsTwo((yield* planned("install", pureModule)).plan)
      })
  )

  tests.live("plans, drift reverts, rollbacks and destroy plans all need the approvals that their rules require", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const runs = yield* Runs
      const { capsule } = yield* active("kinds", pureModule)
      yield* ruled()
      yield* needsTwo(yield* replanned(capsule.id))
      yield* needsTwo(yield* settled((yield* capsuleCommands.ReconcilePlan(capsule.id, { context })).value.id))
      const { items } = yield* capsules.stateVersions(capsule.id, { limit: 10 })
      const first = items.at(-1)
      if (first === undefined) return yield* Effect.die("no state")
      yield* needsTwo(yield* settled((yield* runs.rollbackPlan(context, first.id)).id))
      yield* needsTwo(yield* settled((yield* capsuleCommands.DestroyPlan(capsule.id, { context })).value.id))
    })
  )

  tests.live("a group, its waves and its retries all need the approvals that their rules require", () =>
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
      // Plans the Capsule again within the group. Earlier approvals do not count for the new plan.
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

  tests.live("an auto-update waits for approval unless a rule allows automation", () =>
    Effect.gen(function* () {
      const { commit, context } = yield* TestPlane
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const runs = yield* Runs
      const { capsule } = yield* active("follow", pureModule)
      yield* capsuleCommands.Update(capsule.id, { context, autoUpdate: { enabled: true, apply: true } })
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
      // If the rule requires two approvers, the automation counts as one of them, so a person must still approve.
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

// Only `createApply` creates an apply and uses up a plan, so that not even an operator command can bypass the approvals.
tests.live("only one function in the code creates an apply", () =>
  Effect.sync(() => {
    const files = ["actors", "src", "runner"].flatMap((room) =>
      readdirSync(room, { recursive: true, encoding: "utf8" }).flatMap((name) =>
        /\.tsx?$/.test(name) ? [join(room, name)] : []
      )
    )
    const using = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(file, "utf8"))).sort()
    expect(using(/\.usePlan\(/)).toEqual(["actors/commands/capsule/CapsuleRuns.ts"])
    expect(using(/\.createApply\(/)).toEqual([
      "actors/commands/capsule/FollowedApply.ts",
      "actors/commands/capsule/PlanCommands.ts"
    ])
    expect(using(/lifecycle\.approve\(/)).toEqual([
      "actors/commands/capsule/FollowedApply.ts",
      "actors/commands/run/RunActor.ts",
      // Approves a plan if people have approved the same change in a pull request.
      "actors/running/execution/PlanSettlement.ts"
    ])
  })
)
