import { afterAll, afterEach, describe, expect, setDefaultTimeout } from "bun:test"
import examples from "@octokit/webhooks-examples/api.github.com/index.json" with { type: "json" }
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { MergeGroupJson, PullRequestRow } from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import { PullRequestReads } from "../../../../actors/commands/pull-request/PullRequestReads.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { PullRequestCommands } from "../../../../schema/commands/PullRequestCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import type { SourceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { commitOf } from "../../../support/forge/ForgeState.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { admin, ruled } from "../../support/ApprovalSteps.ts"
import { onGitHub, planeOnGitHub } from "../../support/ForgeWorld.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, calm, listed, looked, readOf } from "../../support/PullRequestWorld.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"

setDefaultTimeout(120_000)

const tests = suite(planeOnGitHub)
afterAll(tests.dispose)
afterEach(() => tests.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM approval_rules`)))

const published = examples.flatMap((one): ReadonlyArray<unknown> => (one.name === "merge_group" ? one.examples : []))

/** Delivers the published webhook of a merge queue. The webhook is about another repository, so it only triggers a poll. */
const checksRequested = Effect.fnUntraced(function* (sourceId: SourceId, secret: string) {
  const body = Stream.make(new TextEncoder().encode(JSON.stringify(published[0])))
  yield* (yield* Sources).hook(sourceId, { proofs: { secrets: [secret] }, body })
  return yield* calm(sourceId)
})

/** Adds a pull request to the queue by creating a commit on top of `from`, on a branch that only the queue writes to. */
const queued = Effect.fnUntraced(function* (lane: string, number: number, from: string, files: Record<string, string>) {
  const branch = `gh-readonly-queue/${lane}/pr-${number}-${commitOf(`${lane} ${number}`)}`
  return { branch, commit: yield* branched(from, branch, { ...files, "docs/queue.md": branch }) }
})

const groups = (sourceId: SourceId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* PullRequestRow.rows(sql)`SELECT * FROM pull_requests
      WHERE source_id = ${sourceId} AND merge_group IS NOT NULL ORDER BY number DESC`
    return rows.map((row) => ({ ...row, numbers: MergeGroupJson.read(row.merge_group ?? "[]") }))
  })

const approveChangeOf = Effect.fnUntraced(function* (sourceId: SourceId, number: number) {
  const { capsules } = yield* readOf(sourceId, number)
  const id = capsules?.[0]?.run?.id
  const run = id === undefined ? yield* Effect.die("no Run") : yield* (yield* Runs).read(id)
  yield* (yield* RunCommands).ApproveChange(run.id, {
    context: yield* admin,
    planDigest: run.planDigest ?? "",
    changeDigest: run.changeDigest ?? ""
  })
  return run
})

const rule = ruled({ approvers: 1, planAuthorCounts: false })

describe("Merge queue commits", () => {
  tests.live(
    "a queued commit waits until its change is approved, and succeeds if its plan makes the approved change",
    () =>
      Effect.gen(function* () {
        const { base, opens, secret, source, statusOf } = yield* onGitHub("queue", greeting("one"))
        yield* rule
        yield* opens(1, greeting("two"))
        yield* looked(source.id, secret)
        const { branch, commit } = yield* queued("queue", 1, base, { ...greeting("two"), "docs/notes.md": "Squashed" })
        yield* checksRequested(source.id, secret)
        const before = yield* statusOf(commit, (text) => text.includes("Approve"))
        expect(before).toMatchObject({ state: "pending", context: expect.stringMatching(/^svc\//) })
        expect(before?.description).toContain("Approve the change in #1. Nobody has approved it.")
        // The plan of the queued commit is recorded for its merge group. Lists of pull requests omit merge groups.
        const [group = yield* Effect.die("no group")] = yield* groups(source.id)
        expect(yield* listed(source.id)).toMatchObject([{ number: 1, state: "open" }])
        expect(yield* (yield* PullRequestReads).read(group.id)).toMatchObject({
          number: 1,
          mergeGroup: [1],
          headCommit: commit,
          counts: { needs_approval: 1 },
          capsules: [
            {
              touched: true,
              run: { status: "succeeded" },
              verdict: "needs_approval",
              awaits: [{ approvers: 1, role: "admin" }]
            }
          ]
        })

        yield* approveChangeOf(source.id, 1)
        expect(yield* statusOf(commit, (text) => text.includes("approved."))).toMatchObject({
          state: "success",
          description: "1 Capsule: 1 approved."
        })
        const approved = yield* (yield* PullRequestReads).read(group.id)
        expect([approved.counts, approved.capsules?.[0]?.verdict, approved.capsules?.[0]?.awaits]).toEqual([
          { approved: 1 },
          "approved",
          undefined
        ])

        // The queue removes the commit.
        yield* (yield* TestPlane).moveBranch(branch, undefined)
        yield* looked(source.id, secret)
        expect((yield* groups(source.id)).map(({ state }) => state)).toEqual(["closed"])
        expect(yield* listed(source.id)).toMatchObject([{ number: 1, state: "open" }])
      })
  )

  tests.live(
    "a queued commit fails and shows the difference if the base or another pull request in its group changes the plan",
    () =>
      Effect.gen(function* () {
        const { base, opens, repository, secret, source, statusOf } = yield* onGitHub("group", greeting("one"))
        yield* rule
        yield* opens(11, greeting("two"))
        const more = { "more.tf": 'resource "terraform_data" "more" {}' }
        yield* opens(12, { ...greeting("one"), ...more })
        yield* looked(source.id, secret)
        yield* approveChangeOf(source.id, 11)
        yield* approveChangeOf(source.id, 12)
        const first = yield* queued("group", 11, base, greeting("two"))
        const second = yield* queued("group", 12, first.commit, { ...greeting("two"), ...more })
        yield* checksRequested(source.id, secret)
        expect(yield* statusOf(first.commit, (text) => text.includes("approved."))).toMatchObject({ state: "success" })
        const failed = yield* statusOf(second.commit, (text) => text.includes("Not the change"))
        expect(failed).toMatchObject({ state: "failure" })
        expect(failed?.description).toContain("Not the change that was approved in #11, #12.")
        const ofLane = (yield* groups(source.id)).filter(({ base_branch }) => base_branch === "group")
        const counts = yield* Effect.forEach(ofLane, ({ id }) =>
          Effect.flatMap(PullRequestReads, (reads) => Effect.map(reads.read(id), (one) => one.counts))
        )
        expect(counts).toEqual([{ approved: 1 }, { differs: 1 }])
        expect(ofLane.map(({ numbers }) => numbers)).toEqual([[11], [11, 12]])
        // Every queued commit has a separate status, and svc writes no comments about queued commits.
        expect([...repository.pullRequests.values()].map(({ comments }) => comments.length)).toEqual([1, 1])
      })
  )

  tests.live("a queued commit that affects no Capsule succeeds", () =>
    Effect.gen(function* () {
      const { base, opens, secret, source, statusOf } = yield* onGitHub("unused", greeting("one"))
      yield* opens(21, { ...greeting("one"), "docs/a.md": "text" })
      // A queued commit gets a status even if no Capsule follows its base.
      const other = yield* queued("elsewhere", 22, base, greeting("five"))
      const { commit } = yield* queued("unused", 21, base, { ...greeting("one"), "docs/a.md": "text", "docs/b.md": "" })
      yield* checksRequested(source.id, secret)
      expect(yield* statusOf(commit, (text) => text.startsWith("No Capsule"))).toMatchObject({
        state: "success",
        description: "No Capsule uses the files of this merge group."
      })
      expect(yield* statusOf(other.commit, (text) => text.startsWith("No Capsule"))).toMatchObject({ state: "success" })
    })
  )

  tests.live("a queued commit gets a status before svc has read it", () =>
    Effect.gen(function* () {
      const { base, opens, secret, source, sql, statusOf } = yield* onGitHub("early", greeting("one"))
      yield* opens(31, greeting("two"))
      yield* looked(source.id, secret)
      const { commit } = yield* queued("early", 31, base, greeting("two"))
      // The fetch fails.
      yield* createTrigger(
        sql,
        `CREATE TRIGGER no_fetch BEFORE INSERT ON runs WHEN NEW.coordinator_kind = 'pull_request'
        BEGIN SELECT RAISE(ABORT, 'no fetch'); END`
      )
      yield* (yield* Sources).hook(source.id, { proofs: { secrets: [secret] }, body: Stream.empty })
      const early = yield* statusOf(commit, () => true).pipe(
        Effect.ensuring(Effect.orDie(dropTrigger(sql, "no_fetch")))
      )
      expect(early).toMatchObject({ state: "pending", description: "svc reads the files of this merge group." })
    })
  )

  tests.live(
    "a queued commit fails with the reason if it contains a head of another repository, or if its Source allows no plans",
    () =>
      Effect.gen(function* () {
        const { base, context, opens, secret, source, statusOf } = yield* onGitHub("strangers", greeting("one"))
        yield* opens(41, greeting("two"), { headRepositoryId: 4711 })
        yield* looked(source.id, secret)
        const { commit } = yield* queued("strangers", 41, base, greeting("two"))
        yield* checksRequested(source.id, secret)
        const refused = yield* statusOf(commit, (text) => text.includes("not proven"))
        expect(refused).toMatchObject({ state: "failure" })
        expect(refused?.description).toContain("not proven to be in this repository")
        expect((yield* groups(source.id)).find(({ head_commit }) => head_commit === commit)?.fork).toBe("unknown")

        // An admin allows plans of the pull request's head. This also allows plans of the queued commit for that pull
        // request.
        const { headCommit, id } = yield* readOf(source.id, 41)
        yield* (yield* PullRequestCommands).Plan(id, { context, commit: headCommit })
        yield* looked(source.id, secret)
        expect(yield* statusOf(commit, (text) => text.includes("Approve"))).toMatchObject({ state: "pending" })

        yield* (yield* SourceCommands).Update(source.id, { context, request: { pullRequests: "static" } })
        yield* looked(source.id, secret)
        const other = yield* queued("strangers", 42, base, greeting("three"))
        yield* checksRequested(source.id, secret)
        const unplanned = yield* statusOf(other.commit, (text) => text.includes("without planning"))
        expect(unplanned).toMatchObject({ state: "failure" })
      })
  )

  tests.live(
    "a queued commit fails if only the command of a provisioner differs, or if only changes in other pull requests were approved",
    () =>
      Effect.gen(function* () {
        const { base, opens, secret, source, statusOf } = yield* onGitHub("commands", greeting("one"))
        yield* rule
        const running = (command: string) => ({
          "main.tf": `${greeting("two")["main.tf"]}
            resource "terraform_data" "run" {
              provisioner "local-exec" {
                command = "${command}"
              }
            }`
        })
        yield* opens(51, running("true"))
        yield* opens(52, running("true"))
        yield* looked(source.id, secret)
        yield* approveChangeOf(source.id, 51)
        // The queued commit for pull request 52 contains the same change. Nobody has approved the change in pull request 52.
        const other = yield* queued("commands", 52, base, running("true"))
        const changed = yield* queued("commands", 51, base, running("echo"))
        yield* checksRequested(source.id, secret)
        const failed = yield* statusOf(changed.commit, (text) => text.includes("Not the change"))
        expect(failed?.state).toBe("failure")
        expect(failed?.description).toContain("Files of the module differ.")
        const waiting = yield* statusOf(other.commit, (text) => text.includes("Approve"))
        expect(waiting).toMatchObject({ state: "pending" })
        expect(waiting?.description).toContain("Approve the change in #52. Nobody has approved it.")
      })
  )
})
