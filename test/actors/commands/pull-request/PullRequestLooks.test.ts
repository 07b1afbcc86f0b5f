import { rm, mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { PullRequests } from "../../../../actors/ledger/pull-request/PullRequests.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { CapsuleId, SourceId } from "../../../../schema/records/Ids.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const body = Stream.make(new TextEncoder().encode("{}"))

/** Points the ref of a pull request at a commit, or removes it. */
const pullRef = Effect.fnUntraced(function* (number: number, commit: string | undefined) {
  const { dataDir } = yield* TestPlane
  const file = join(dirname(dataDir), "repository.git", "refs", "pull", String(number), "head")
  yield* Effect.promise(async () => {
    if (commit === undefined) return rm(file)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${commit}\n`)
  })
})

/** Commits on top of a branch's present commit under another name. */
const branched = Effect.fnUntraced(function* (from: string, branch: string, files: Record<string, string>) {
  const { commit, moveBranch } = yield* TestPlane
  yield* moveBranch(branch, from)
  return yield* commit(branch, files)
})

/** A Capsule whose Source follows its repository. */
const followed = Effect.fnUntraced(function* (branch: string) {
  const { context } = yield* TestPlane
  const { capsule } = yield* active(branch, greeting("one"))
  const source = yield* (yield* SourceCommands).Update(capsule.sourceId, { context, request: { autoSync: true } })
  const { hookSecret } = yield* (yield* SourceCommands).RenewHookSecret(source.id, {
    context,
    hookSecretVersion: source.hookSecretVersion
  })
  return { capsule, source, secret: hookSecret ?? "" }
})

const listed = Effect.fnUntraced(function* (sourceId: SourceId) {
  const { workspaceId } = yield* TestPlane
  const page = yield* (yield* PullRequests).list(workspaceId, { sourceId }, { limit: 100 })
  return page.items.toSorted((a, b) => a.number - b.number)
})

/** Delivers a webhook and waits until nothing more is due for the Source. */
const looked = Effect.fnUntraced(function* (sourceId: SourceId, secret: string) {
  const sql = yield* SqlClient.SqlClient
  yield* (yield* Sources).hook(sourceId, { proofs: { secrets: [secret] }, body })
  yield* eventually(
    Effect.orDie(sql<{ open: number }>`SELECT (SELECT COUNT(*) FROM pull_request_looks WHERE asked <> taken)
      + (SELECT COUNT(*) FROM pull_requests WHERE due > 0 AND source_id = ${sourceId})
      + (SELECT COUNT(*) FROM runs WHERE source_id = ${sourceId} AND status IN ('queued', 'running'))
      + (SELECT COUNT(*) FROM run_follow_due) AS open`),
    ([row]) => row?.open === 0
  )
  return yield* listed(sourceId)
})

const readOf = Effect.fnUntraced(function* (sourceId: SourceId, number: number) {
  const found = (yield* listed(sourceId)).find((one) => one.number === number)
  return found === undefined ? yield* Effect.die(`no #${number}`) : yield* (yield* PullRequests).read(found.id)
})

const touchedOf = (capsules: ReadonlyArray<{ readonly capsuleId: CapsuleId; readonly touched: boolean }> | undefined) =>
  capsules?.map(({ touched }) => touched)

describe("Looks at pull requests", () => {
  tests.live("find heads by their refs, review them, and follow moves, merges and ends", () =>
    Effect.gen(function* () {
      const { capsule, secret, source } = yield* followed("lane")
      const base = capsule.adoptedSourceRevision?.resolvedCommit ?? ""
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
        modules: [{ path: ".", status: "supported", files: { changed: ["main.tf"], added: [], removed: [] } }]
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
