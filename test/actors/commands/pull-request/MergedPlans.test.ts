import { afterAll, afterEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { SourceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { admin, ruled } from "../../support/ApprovalSteps.ts"
import { approveChange, planLane, reasonsOf } from "../../support/ChangeSteps.ts"
import { onGitHub, planeOnGitHub } from "../../support/ForgeWorld.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, followed, looked, pullRef, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)

const tests = suite(planeOnGitHub)
afterAll(tests.dispose)
afterEach(() => tests.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM approval_rules`)))

/** Approves the change in the plan of a pull request's head, and returns that plan. */
const approvedHead = Effect.fnUntraced(function* (sourceId: SourceId, number: number) {
  const id = (yield* readOf(sourceId, number)).capsules?.[0]?.run?.id
  const run = id === undefined ? yield* Effect.die("no plan") : yield* (yield* Runs).read(id)
  yield* ruled({ approvers: 1, planAuthorCounts: false, carryOver: "approval" })
  yield* approveChange(yield* admin, run)
  return run
})

describe.skipIf(Bun.which("terraform") === null)("Plans of the lane before svc has seen the merge", () => {
  tests.live("show the difference from the approved change as soon as a look at the refs has seen the merge", () =>
    Effect.gen(function* () {
      const { commit, moveBranch } = yield* TestPlane
      const { base, capsule, secret, source } = yield* followed("refs", greeting("one"), {
        pullRequests: "own_branches"
      })
      const head = yield* branched(base, "refs-topic", greeting("two"))
      yield* pullRef(1, head)
      yield* looked(source.id, secret)
      const change = yield* approvedHead(source.id, 1)
      // The lane gets the head and another commit, and is planned before the next look.
      yield* moveBranch("refs", head)
      yield* commit("refs", greeting("three"))
      const before = yield* planLane(capsule.id, source.id)
      expect([before.status, before.differsFrom]).toEqual(["waiting_approval", undefined])
      expect((yield* readOf(source.id, 1)).state).toBe("open")

      yield* looked(source.id, secret)
      const after = yield* (yield* Runs).read(before.id)
      expect(after.differsFrom).toMatchObject({ runId: change.id, pullRequestNumber: 1, commit: head })
      expect(reasonsOf(after)).toEqual(["change", "files"])
      expect(after.differsFrom?.lines).toHaveLength(2)
      expect(yield* readOf(source.id, 1)).toMatchObject({
        state: "merged",
        capsules: [{ verdict: "differs", plan: { id: before.id } }]
      })
      // Further looks change nothing.
      yield* looked(source.id, secret)
      expect((yield* (yield* Runs).read(before.id)).differsFrom).toEqual(after.differsFrom)
    })
  )

  tests.live("show the difference as soon as the forge reports a squash merge, but not while it is open", () =>
    Effect.gen(function* () {
      const { commit } = yield* TestPlane
      const { capsule, opens, secret, source } = yield* onGitHub("squashed", greeting("one"))
      const pullRequest = yield* opens(2, greeting("two"))
      yield* looked(source.id, secret)
      const change = yield* approvedHead(source.id, 2)
      const merge = yield* commit("squashed", greeting("two"))
      yield* commit("squashed", greeting("four"))
      const plan = yield* planLane(capsule.id, source.id)
      yield* looked(source.id, secret)
      expect((yield* (yield* Runs).read(plan.id)).differsFrom).toBeUndefined()

      Object.assign(pullRequest, { state: "closed", merged: true, mergeCommit: merge })
      yield* looked(source.id, secret)
      expect((yield* (yield* Runs).read(plan.id)).differsFrom).toMatchObject({ runId: change.id, pullRequestNumber: 2 })
      expect((yield* readOf(source.id, 2)).capsules).toMatchObject([{ verdict: "differs", plan: { id: plan.id } }])
    })
  )

  tests.live("show no difference if the lane's plan does not contain the merge", () =>
    Effect.gen(function* () {
      const { commit } = yield* TestPlane
      const { capsule, opens, secret, source } = yield* onGitHub("earlier", greeting("one"))
      const pullRequest = yield* opens(3, greeting("two"))
      yield* looked(source.id, secret)
      yield* approvedHead(source.id, 3)
      yield* commit("earlier", greeting("five"))
      const plan = yield* planLane(capsule.id, source.id)
      const merge = yield* commit("earlier", greeting("two"))
      Object.assign(pullRequest, { state: "closed", merged: true, mergeCommit: merge })
      yield* looked(source.id, secret)
      expect((yield* (yield* Runs).read(plan.id)).differsFrom).toBeUndefined()
      expect((yield* readOf(source.id, 3)).capsules).toMatchObject([{ verdict: "planning" }])
    })
  )
})
