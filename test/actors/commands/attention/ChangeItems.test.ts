import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Attention } from "../../../../actors/commands/attention/Attention.ts"
import { PullRequests } from "../../../../actors/ledger/pull-request/PullRequests.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { CommandContext } from "../../../../schema/commands/Command.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { replanned } from "../../../support/Journey.ts"
import { newMember, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { admin, ruled, subjectOf } from "../../support/ApprovalSteps.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, followed, listed, looked, pullRef, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)
const tests = suite(testPlane())
afterAll(tests.dispose)

/** Returns the entries about changes in this person's attention list. */
const changesFor = Effect.fnUntraced(function* (person: CommandContext) {
  const { workspaceId } = yield* TestPlane
  const page = yield* (yield* Attention).list(workspaceId, { subject: subjectOf(person) }, { limit: 100 })
  return page.items.filter(({ kind }) => kind === "waiting_change")
})

tests.live(
  "a pull request waits for people who may approve it, and its status follows its plans until after the merge",
  () =>
    Effect.gen(function* () {
      const { context: owner, moveBranch, workspaceId } = yield* TestPlane
      const { base, capsule, secret, source } = yield* followed("progress", greeting("one"), {
        pullRequests: "own_branches"
      })
      const head = yield* branched(base, "progress-topic", greeting("two"))
      yield* pullRef(1, head)
      yield* looked(source.id, secret)
      const approver = yield* admin
      const member = yield* newMember(workspaceId, owner, "member")
      const opened = yield* readOf(source.id, 1)
      expect(opened.counts).toEqual({ planned: 1 })
      expect(opened.capsules).toMatchObject([
        { verdict: "planned", summary: { change: 1 }, awaits: [{ approvers: 1, role: "admin" }] }
      ])
      const sql = yield* SqlClient.SqlClient
      // If there is no rule, or if the rule does not carry approvals over, an approval has no effect, so no entry requests
      // approval.
      expect(yield* changesFor(approver)).toEqual([])
      yield* ruled({ approvers: 1, planAuthorCounts: false })
      expect(yield* changesFor(approver)).toEqual([])
      yield* sql`UPDATE approval_rules SET carry_over = 'approval_and_apply'`
      expect(yield* changesFor(approver)).toMatchObject([
        { pullRequest: { id: opened.id, number: 1 }, capsules: [{ id: capsule.id }] }
      ])
      expect((yield* changesFor(approver))[0]).not.toHaveProperty("waitsForOthers")
      expect(yield* changesFor(member)).toMatchObject([{ waitsForOthers: true }])
      yield* sql`UPDATE pull_requests SET draft = 1`
      expect(yield* changesFor(approver)).toEqual([])
      yield* sql`UPDATE pull_requests SET draft = 0`

      const runId = opened.capsules?.[0]?.run?.id
      if (runId === undefined) return yield* Effect.die("no plan")
      const { changeDigest = "", planDigest = "" } = yield* (yield* Runs).read(runId)
      yield* (yield* RunCommands).ApproveChange(runId, { context: approver, changeDigest, planDigest })
      expect((yield* readOf(source.id, 1)).counts).toEqual({ approved: 1 })
      expect(yield* changesFor(approver)).toEqual([])
      expect(yield* changesFor(member)).toEqual([])

      yield* moveBranch("progress", head)
      yield* looked(source.id, secret)
      expect(yield* readOf(source.id, 1)).toMatchObject({ state: "merged" })
      const plan = yield* replanned(capsule.id)
      expect(plan.carriedFrom?.pullRequestId).toBe(opened.id)
      const applied = yield* eventually(readOf(source.id, 1), ({ counts }) => counts?.applied === 1)
      expect(applied.capsules).toMatchObject([
        { verdict: "applied", run: { id: runId }, plan: { id: plan.id }, apply: { status: "succeeded" } }
      ])
      expect((yield* listed(source.id)).map(({ counts }) => counts)).toEqual([{ applied: 1 }])
      const ofCapsule = yield* (yield* PullRequests).ofCapsule(capsule.id, {}, { limit: 10 })
      expect(ofCapsule.items.map(({ counts }) => counts)).toEqual([{ applied: 1 }])

      // svc never carries approvals over to a plan that would undo the merge, so no entry requests approval.
      yield* pullRef(2, yield* branched(base, "progress-late", greeting("three")))
      yield* looked(source.id, secret)
      const late = yield* readOf(source.id, 2)
      expect(late.capsules).toMatchObject([{ verdict: "planned", behind: 1, risks: [{ kind: "undoes" }] }])
      expect(yield* changesFor(approver)).toEqual([])
    })
)
