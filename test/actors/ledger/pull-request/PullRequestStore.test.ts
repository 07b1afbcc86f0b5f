import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import {
  PullRequestLookRow,
  PullRequestRow,
  StaticReviewJson
} from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../../../actors/ledger/pull-request/PullRequestStore.ts"
import { PullRequests } from "../../../../actors/ledger/pull-request/PullRequests.ts"
import { PullRequestId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { commitOf } from "../../../support/forge/ForgeState.ts"
import { active } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"

setDefaultTimeout(60_000)
const tests = suite(testPlane())
afterAll(tests.dispose)

tests.live("90 days after the end, a poll removes the review of a pull request and the record of a merge group", () =>
  Effect.gen(function* () {
    const { workspaceId } = yield* TestPlane
    const sql = yield* SqlClient.SqlClient
    const { capsule } = yield* active("ended", greeting("one"))
    const now = yield* Clock.currentTimeMillis
    const daysAgo = (days: number) => new Date(now - Duration.toMillis(Duration.days(days))).toISOString()
    const head = commitOf("ended")
    const review = StaticReviewJson.write({
      commit: head,
      baseCommit: commitOf("base"),
      at: daysAgo(100),
      modules: [],
      more: 0
    })
    const idOf = (letter: string) => PullRequestId.make(`pr_${letter.repeat(24)}`)
    const insert = (letter: string, number: number, days: number | undefined) =>
      sql`INSERT INTO pull_requests ${PullRequestRow.values(sql, {
        id: idOf(letter),
        workspace_id: workspaceId,
        source_id: capsule.sourceId,
        number,
        ref: number < 0 ? `refs/heads/gh-readonly-queue/main/pr-${-number}-${head}` : `refs/pull/${number}/head`,
        state: days === undefined ? "open" : "closed",
        head_commit: head,
        fork: "no",
        review,
        merge_group: number < 0 ? `[${-number}]` : null,
        closed_at: days === undefined ? null : daysAgo(days),
        last_seen_at: daysAgo(100),
        created_at: daysAgo(100)
      })}`
    yield* insert("a", 1, 91)
    yield* insert("b", 2, 89)
    yield* insert("c", 3, undefined)
    yield* insert("d", -1, 91)
    yield* insert("e", -2, 89)
    yield* sql`INSERT INTO pull_request_looks ${PullRequestLookRow.values(sql, {
      source_id: capsule.sourceId,
      workspace_id: workspaceId,
      asked: 1
    })}`
    const store = yield* PullRequestStore
    const look = { id: capsule.sourceId, workspace_id: workspaceId, asked: 1 }
    yield* transaction(sql)(
      store.looked(look, {
        sighting: { open: [], leftOut: 0, ended: () => ({ state: "closed", merge_commit: null }) },
        defaultBranch: null,
        fromNumber: 0,
        forgeFault: undefined,
        queues: undefined,
        repository: undefined
      })
    )
    const reads = yield* PullRequests
    const reviewed = (letter: string) => Effect.map(reads.read(idOf(letter)), (one) => [one.number, one.review?.commit])
    expect(yield* reviewed("a")).toEqual([1, undefined])
    expect(yield* reviewed("b")).toEqual([2, head])
    // The poll has not found this one, so it has just ended.
    expect(yield* reviewed("c")).toEqual([3, head])
    const groups = yield* PullRequestRow.some(sql, "id")`SELECT id FROM pull_requests WHERE merge_group IS NOT NULL`
    expect(groups.map(({ id }) => id)).toEqual([idOf("e")])
  })
)
