import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { StaticReviewJson } from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { CapsuleId, PullRequestId, SourceSnapshotId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, followed, looked, pullRef } from "../../support/PullRequestWorld.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"

setDefaultTimeout(180_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe("Many pull requests", () => {
  tests.live("svc fetches each head once, and at most four heads at a time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { base, secret, source } = yield* followed("heads", greeting("one"))
      yield* sql`CREATE TABLE fetches (open INTEGER NOT NULL)`
      yield* createTrigger(
        sql,
        `CREATE TRIGGER counted AFTER INSERT ON runs WHEN NEW.coordinator_kind = 'pull_request' BEGIN
        INSERT INTO fetches SELECT COUNT(*) FROM runs WHERE coordinator_kind = 'pull_request'
          AND type = 'source_sync' AND status IN ('queued', 'running'); END`
      )
      for (const number of numbers(12)) {
        yield* pullRef(number, yield* branched(base, `heads-${number}`, greeting(`text ${number}`)))
      }
      const found = yield* looked(source.id, secret)
      expect(found).toHaveLength(12)
      const fetches = Effect.orDie(
        sql<{ made: number; most: number }>`SELECT COUNT(*) AS made, MAX(open) AS most FROM fetches`
      )
      expect(yield* fetches).toEqual([{ made: 12, most: 4 }])
      yield* looked(source.id, secret)
      yield* looked(source.id, secret)
      expect(yield* fetches).toEqual([{ made: 12, most: 4 }])
      yield* dropTrigger(sql, "counted")
    })
  )

  tests.live(
    "a hundred pull requests for twenty Capsules run eight plans at a time, and people's Runs still start",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const { base, capsule, source } = yield* followed("many", greeting("one"))
        const [capsuleRow] = yield* sql<Record<string, string>>`SELECT * FROM capsules WHERE id = ${capsule.id}`
        const ids = [capsule.id, ...numbers(19).map((index) => `cap_${String(index).padStart(24, "m")}`)]
        for (const id of ids.slice(1)) {
          yield* sql`INSERT INTO capsules ${sql.insert({ ...capsuleRow, id, name: id, slug: id.slice(-8), current_state_version_id: null })}`
        }
        const [snapshot] = yield* sql<Record<string, string>>`SELECT * FROM source_snapshots
        WHERE source_id = ${source.id} AND resolved_commit = ${base} LIMIT 1`
        const at = "2026-01-01T00:00:00.000Z"
        for (const number of numbers(100)) {
          const head_commit = number.toString(16).padStart(40, "0")
          const id = `pr_${String(number).padStart(24, "m")}`
          const head_snapshot_id = `snap_${String(number).padStart(24, "m")}`
          const ref = `refs/pull/${number}/head`
          const review = StaticReviewJson.write({ commit: head_commit, baseCommit: base, at, modules: [], more: 0 })
          yield* sql`INSERT INTO source_snapshots ${sql.insert({ ...snapshot, id: head_snapshot_id, ref, resolved_commit: head_commit })}`
          yield* sql`INSERT INTO pull_requests ${sql.insert({ id, workspace_id: source.workspaceId, source_id: source.id, number, ref, state: "open", head_commit, fork: "no", last_seen_at: at, created_at: at, head_snapshot_id, review })}`
          for (const capsule_id of ids) {
            yield* sql`INSERT INTO pull_request_capsules ${sql.insert({ pull_request_id: id, capsule_id, head_commit, touched: 1 })}`
          }
        }
        // Keeps speculative plans in the queue.
        yield* createTrigger(
          sql,
          `CREATE TRIGGER kept BEFORE UPDATE ON runs WHEN NEW.status = 'running' AND NEW.purpose = 'speculative'
          BEGIN SELECT RAISE(IGNORE); END`
        )
        const capsules = yield* CapsuleCommands
        const commands = yield* SourceCommands
        // Prevents the server's own polls, so that the seeded pull requests stay open.
        yield* createTrigger(
          sql,
          "CREATE TRIGGER unseen BEFORE UPDATE ON pull_request_looks BEGIN SELECT RAISE(IGNORE); END"
        )
        yield* commands.Update(source.id, { context, request: { pullRequests: "own_branches" } })
        const plans = Effect.orDie(
          sql<{ status: string; many: number }>`SELECT status, COUNT(*) AS many FROM runs
          WHERE coordinator_kind = 'pull_request' AND type = 'plan' AND capsule_id IN ${sql.in(ids)} GROUP BY status ORDER BY status`
        )
        const due = Effect.orDie(sql<{ due: number }>`SELECT COUNT(*) AS due FROM pull_requests
        WHERE source_id = ${source.id} AND due > 0`)
        yield* eventually(due, ([row]) => row?.due === 0)
        expect(yield* plans).toEqual([{ status: "queued", many: 8 }])
        // The transaction that creates a plan checks the limit, so concurrent plans cannot exceed it either.
        const refusals = yield* Effect.forEach(
          ids,
          (id) =>
            capsules
              .PlanSpeculatively(CapsuleId.make(id), {
                context: serviceContext,
                ofOwnBranch: true,
                attempt: 1,
                pullRequestId: PullRequestId.make(`pr_${"100".padStart(24, "m")}`),
                sourceSnapshotId: SourceSnapshotId.make(`snap_${"100".padStart(24, "m")}`)
              })
              .pipe(Effect.flip),
          { concurrency: "unbounded" }
        )
        expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(["rate_limited"]))
        expect(yield* plans).toEqual([{ status: "queued", many: 8 }])
        const own = yield* capsules.Plan(capsule.id, { context })
        expect(own.value.type).toBe("plan")

        yield* commands.Update(source.id, { context, request: { pullRequests: "static" } })
        yield* eventually(due, ([row]) => row?.due === 0)
        expect(yield* plans).toEqual([{ status: "cancelled", many: 8 }])
        yield* dropTrigger(sql, "kept")
        yield* dropTrigger(sql, "unseen")
      })
  )
})
