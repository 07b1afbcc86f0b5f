import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { SourceSchedule } from "../../../../actors/commands/source/SourceSchedule.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, calm, followed, listed, looked, pullRef, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const touchedOf = (capsules: ReadonlyArray<{ readonly capsuleId: CapsuleId; readonly touched: boolean }> | undefined) =>
  capsules?.map(({ touched }) => touched)

describe("Repository polls", () => {
  tests.live(
    "polls find pull request heads by their refs, review the heads, and detect new heads, merges and closed pull requests",
    () =>
      Effect.gen(function* () {
        const { base, capsule, secret, source } = yield* followed("lane", greeting("one"))
        // A pull request ref that existed before the first poll is treated as old unless a branch points to its head.
        yield* pullRef(1, yield* branched(base, "gone", greeting("old")))
        yield* (yield* TestPlane).moveBranch("gone", undefined)
        const own = yield* branched(base, "topic", greeting("two"))
        yield* pullRef(2, own)
        expect(
          (yield* looked(source.id, secret)).map(({ fork, headCommit, number, state }) => [
            number,
            headCommit,
            fork,
            state
          ])
        ).toEqual([[2, own, "no", "open"]])
        const first = yield* readOf(source.id, 2)
        expect(first).toMatchObject({
          ref: "refs/pull/2/head",
          headBranch: "topic",
          baseBranch: "lane",
          baseCommit: base
        })
        expect(first.error).toBeUndefined()
        expect(first.capsules).toMatchObject([{ capsuleId: capsule.id, touched: true, because: "main.tf changed" }])
        expect(first.review).toMatchObject({
          commit: own,
          baseCommit: base,
          modules: [
            {
              path: ".",
              status: "supported",
              files: { changed: ["main.tf"], added: [], removed: [] },
              validation: { status: "passed" },
              formatting: { status: "failed", details: ["main.tf"] }
            }
          ]
        })

        // A head from another repository, which does not change the module.
        const outside = yield* branched(base, "stranger", { ...greeting("one"), "docs/a.md": "text" })
        yield* (yield* TestPlane).moveBranch("stranger", undefined)
        yield* pullRef(3, outside)
        yield* looked(source.id, secret)
        const third = yield* readOf(source.id, 3)
        expect(third).toMatchObject({ fork: "unknown", state: "open", headCommit: outside })
        expect(touchedOf(third.capsules)).toEqual([false])

        // A force-push.
        const forced = yield* branched(base, "topic", {
          ...greeting("one"),
          "extra.tf": 'resource "terraform_data" "b" {}'
        })
        yield* pullRef(2, forced)
        yield* looked(source.id, secret)
        const moved = yield* readOf(source.id, 2)
        expect(moved).toMatchObject({ id: first.id, headCommit: forced, review: { commit: forced } })
        expect(moved.review?.modules[0]?.resources.added).toEqual([
          { name: "terraform_data.b", path: "extra.tf", line: 1 }
        ])

        // The pull request was merged, and its ref was removed.
        yield* (yield* TestPlane).moveBranch("lane", forced)
        yield* pullRef(3, undefined)
        yield* looked(source.id, secret)
        expect((yield* listed(source.id)).map(({ state }) => state)).toEqual(["merged", "closed"])
        expect((yield* listed(source.id)).every(({ closedAt }) => closedAt !== undefined)).toBe(true)

        // The pull request was reopened with the same head.
        yield* pullRef(3, outside)
        yield* looked(source.id, secret)
        const reopened = yield* readOf(source.id, 3)
        expect(reopened).toMatchObject({ id: third.id, state: "open", review: { commit: outside } })
        expect(reopened.closedAt).toBeUndefined()
        // Syncing a head never changes the Source's lanes or status.
        const { lanes, pullRequestLook, status } = yield* (yield* Sources).read(source.id)
        expect(pullRequestLook).toEqual({ at: expect.any(String), leftOut: 0 })
        expect([status, lanes?.map(({ ref }) => ref)]).toEqual(["active", ["lane"]])
      })
  )

  tests.live("polls report an unreadable repository, and become less frequent after each failure", () =>
    Effect.gen(function* () {
      const { context, url, workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const sources = yield* Sources
      const commands = yield* SourceCommands
      const made = yield* sources.create(context, { workspaceId, name: "gone", url: `${url}-gone` })
      const request = { autoSync: true, pullRequests: "static" } as const
      const delays: Array<number> = []
      for (const failures of [1, 2, 3]) {
        yield* commands.Update(made.source.id, { context, request })
        const [row] = yield* eventually(
          Effect.orDie(sql<{ failures: number; next_at: string }>`SELECT failures, next_at FROM pull_request_looks
            WHERE source_id = ${made.source.id} AND asked = taken`),
          ([found]) => found?.failures === failures
        )
        delays.push(Date.parse(row?.next_at ?? ""))
      }
      expect(delays).toEqual(delays.toSorted((a, b) => a - b))
      expect((delays[2] ?? 0) - (delays[0] ?? 0)).toBeGreaterThan(10 * 60_000)
      const { pullRequestLook } = yield* sources.read(made.source.id)
      expect(pullRequestLook).toMatchObject({ error: { code: "source_not_found" } })
      expect(yield* listed(made.source.id)).toEqual([])
    })
  )

  tests.live("svc reads nothing for a Source that ignores its pull requests or does not follow its repository", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const commands = yield* SourceCommands
      const { base, secret, source } = yield* followed("ignored", greeting("one"), { pullRequests: "off" })
      yield* pullRef(20, yield* branched(base, "ignored-topic", greeting("two")))
      expect(yield* looked(source.id, secret)).toEqual([])
      yield* commands.Update(source.id, { context, request: { autoSync: false, pullRequests: "static" } })
      expect(yield* calm(source.id)).toEqual([])
      yield* (yield* SourceSchedule).syncDue
      expect(yield* calm(source.id)).toEqual([])

      // Without a webhook, only the schedule finds the pull request.
      yield* commands.Update(source.id, { context, request: { autoSync: true } })
      yield* sql`UPDATE pull_request_looks SET next_at = '2020-01-01T00:00:00.000Z' WHERE source_id = ${source.id}`
      yield* (yield* SourceSchedule).syncDue
      const found = yield* eventually(calm(source.id), (all) => all.length > 0)
      expect(found.find(({ number }) => number === 20)).toMatchObject({ state: "open", fork: "no" })

      yield* commands.Update(source.id, { context, request: { status: "disabled" } })
      yield* (yield* SourceSchedule).syncDue
      yield* pullRef(20, undefined)
      expect((yield* calm(source.id)).find(({ number }) => number === 20)?.state).toBe("open")
    })
  )
})
