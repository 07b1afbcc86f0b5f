import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, followed, listed, looked, pullRef, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const touchedOf = (capsules: ReadonlyArray<{ readonly capsuleId: CapsuleId; readonly touched: boolean }> | undefined) =>
  capsules?.map(({ touched }) => touched)

describe("Looks at pull requests", () => {
  tests.live("find heads by their refs, review them, and follow moves, merges and ends", () =>
    Effect.gen(function* () {
      const { base, capsule, secret, source } = yield* followed("lane", greeting("one"))
      // Refs that were there before the first look are old, unless a branch has their head.
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

      // A head from elsewhere, which leaves the module as it is.
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

      // Merged, and its ref removed.
      yield* (yield* TestPlane).moveBranch("lane", forced)
      yield* pullRef(3, undefined)
      yield* looked(source.id, secret)
      expect((yield* listed(source.id)).map(({ state }) => state)).toEqual(["merged", "closed"])
      expect((yield* listed(source.id)).every(({ closedAt }) => closedAt !== undefined)).toBe(true)

      // Reopened with the same head.
      yield* pullRef(3, outside)
      yield* looked(source.id, secret)
      const reopened = yield* readOf(source.id, 3)
      expect(reopened).toMatchObject({ id: third.id, state: "open", review: { commit: outside } })
      expect(reopened.closedAt).toBeUndefined()
      // The syncs of heads never change the lanes or the status of the Source.
      const { lanes, status } = yield* (yield* Sources).read(source.id)
      expect([status, lanes?.map(({ ref }) => ref)]).toEqual(["active", ["lane"]])
    })
  )
})
