import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { PullRequests } from "../../../../actors/ledger/pull-request/PullRequests.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { PullRequestCommands } from "../../../../schema/commands/PullRequestCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import type { PullRequest } from "../../../../schema/records/PullRequest.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, calm, followed, looked, pullRef, readOf } from "../../support/PullRequestWorld.ts"
import { padded } from "../../../support/Dialect.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

/** Returns the Run that plans the first affected Capsule. */
const runOf = Effect.fnUntraced(function* ({ capsules }: PullRequest) {
  const id = capsules?.[0]?.run?.id
  return id === undefined ? yield* Effect.die("no Run") : yield* (yield* Runs).read(id)
})

describe("Plans for the head of a pull request", () => {
  tests.live(
    "svc plans branches of the same repository if the rule allows it, replaces the plan when the head changes, and does not plan a head from another repository",
    () =>
      Effect.gen(function* () {
        const { base, capsule, secret, source } = yield* followed("own", greeting("one"), {
          pullRequests: "own_branches"
        })
        yield* pullRef(1, yield* branched(base, "own-topic", greeting("two")))
        yield* looked(source.id, secret)
        const first = yield* readOf(source.id, 1)
        expect(first.capsules).toMatchObject([{ capsuleId: capsule.id, touched: true, run: { status: "succeeded" } }])
        const run = yield* runOf(first)
        expect(run).toMatchObject({ speculative: true, pullRequestId: first.id, resolvedCommit: first.headCommit })
        // svc does not plan the same head again.
        yield* looked(source.id, secret)
        expect((yield* readOf(source.id, 1)).capsules?.[0]?.run?.id).toBe(run.id)

        yield* pullRef(1, yield* branched(base, "own-topic", greeting("three")))
        yield* looked(source.id, secret)
        const second = yield* readOf(source.id, 1)
        expect(second.capsules?.[0]?.run?.id).not.toBe(run.id)

        const stranger = yield* branched(base, "own-stranger", greeting("four"))
        yield* (yield* TestPlane).moveBranch("own-stranger", undefined)
        yield* pullRef(2, stranger)
        yield* looked(source.id, secret)
        const third = yield* readOf(source.id, 2)
        expect(third).toMatchObject({ fork: "unknown", review: { commit: stranger } })
        expect(third.capsules).toMatchObject([{ refusal: { code: "static_review" } }])
        expect(third.capsules?.[0]).not.toHaveProperty("run")
      })
  )

  tests.live("an admin can allow plans of exactly one commit, and a later push revokes the permission", () =>
    Effect.gen(function* () {
      const { context, moveBranch, workspaceId } = yield* TestPlane
      const commands = yield* PullRequestCommands
      const { base, secret, source } = yield* followed("asked", greeting("one"))
      const head = yield* branched(base, "asked-topic", greeting("two"))
      yield* moveBranch("asked-topic", undefined)
      yield* pullRef(3, head)
      // Pull request 3 is older than the first poll, and no branch points to its head, so svc ignores it. Pull request 4 has
      // the same head.
      yield* looked(source.id, secret)
      yield* pullRef(4, head)
      yield* looked(source.id, secret)
      const before = yield* readOf(source.id, 4)
      expect(before.capsules).toMatchObject([{ refusal: { code: "static_review" } }])

      const other = yield* Effect.flip(commands.Plan(before.id, { context, commit: base }))
      expect(other.code).toBe("guard_conflict")
      yield* commands.Plan(before.id, { context, commit: head })
      yield* calm(source.id)
      const planned = yield* (yield* PullRequests).read(before.id)
      expect(planned).toMatchObject({ planned: { commit: head, by: context.actor.subject } })
      expect(planned.capsules).toMatchObject([{ run: { status: "succeeded" } }])
      const run = yield* runOf(planned)
      expect(run).toMatchObject({ createdBy: context.actor.subject, speculative: true })
      const { items } = yield* (yield* Audit).list(
        workspaceId,
        context.actor.subject ?? "",
        { action: "pull_request.plan" },
        { limit: 10 }
      )
      expect(items.map(({ data }) => data)).toEqual([{ pullRequestId: before.id, number: 4, commit: head }])

      const pushed = yield* branched(head, "asked-topic", greeting("three"))
      yield* moveBranch("asked-topic", undefined)
      yield* pullRef(4, pushed)
      yield* looked(source.id, secret)
      const after = yield* readOf(source.id, 4)
      expect(after.capsules).toMatchObject([{ refusal: { code: "static_review" } }])
      expect((yield* Effect.flip(commands.Plan(before.id, { context, commit: head }))).code).toBe("guard_conflict")

      yield* pullRef(4, undefined)
      yield* looked(source.id, secret)
      expect((yield* Effect.flip(commands.Plan(before.id, { context, commit: pushed }))).code).toBe(
        "failed_precondition"
      )
    })
  )

  tests.live(
    "if svc cannot queue a plan because the Workspace's queue is full, svc creates the plan at a later poll",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const commands = yield* SourceCommands
        const { base, secret, source } = yield* followed("waiting", greeting("one"))
        yield* pullRef(41, yield* branched(base, "waiting-topic", greeting("two")))
        yield* looked(source.id, secret)
        expect((yield* readOf(source.id, 41)).capsules).toMatchObject([{ refusal: { code: "static_review" } }])
        // Fills the queue with Runs that never start, because each waits for a Capsule.
        yield* sql`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
        INSERT INTO runs (id, workspace_id, type, status, requires_approval, trigger_kind, attempt, spec, evidence, created_at,
          queued_at, capsule_wait)
        SELECT 'run_full' || ${padded(sql, "i", 20)}, ${workspaceId}, 'plan', 'queued', 1, 'user', 1, '{}', '{}', ${source.createdAt},
          ${source.createdAt}, 1 FROM n`
        yield* commands.Update(source.id, { context, request: { pullRequests: "own_branches" } })
        yield* eventually(
          readOf(source.id, 41),
          ({ capsules }) => capsules?.[0]?.refusal === undefined && capsules?.[0]?.run === undefined
        )
        yield* sql`DELETE FROM runs WHERE id LIKE 'run_full%'`
        yield* looked(source.id, secret)
        expect((yield* readOf(source.id, 41)).capsules).toMatchObject([{ run: { status: "succeeded" } }])
      })
  )

  tests.live("closing a pull request or tightening the Source's rule cancels unfinished plans", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const { base, secret, source } = yield* followed("ends", greeting("one"), { pullRequests: "own_branches" })
      const plans = Effect.orDie(
        sql<{ status: string }>`SELECT status FROM runs WHERE coordinator_kind = 'pull_request' AND type = 'plan'
          AND coordinator_id = (SELECT id FROM pull_requests WHERE source_id = ${source.id} AND number = 7)
          ORDER BY created_at, id`
      )
      /**
       * Waits until the pull request has this number of plans. The tool runs long enough that these plans have not finished
       * when the test makes its next change.
       */
      const planned = (count: number) => eventually(plans, (rows) => rows.length === count)
      yield* pullRef(7, yield* branched(base, "ends-topic", greeting("two")))
      yield* Effect.raceFirst(looked(source.id, secret), planned(1))
      yield* (yield* SourceCommands).Update(source.id, { context, request: { pullRequests: "static" } })
      yield* calm(source.id)
      expect((yield* plans).map(({ status }) => status)).toEqual(["cancelled"])
      expect((yield* readOf(source.id, 7)).capsules).toMatchObject([{ refusal: { code: "static_review" } }])

      yield* (yield* SourceCommands).Update(source.id, { context, request: { pullRequests: "own_branches" } })
      yield* planned(2)
      yield* pullRef(7, undefined)
      yield* looked(source.id, secret)
      expect((yield* plans).map(({ status }) => status)).toEqual(["cancelled", "cancelled"])
    })
  )
})
