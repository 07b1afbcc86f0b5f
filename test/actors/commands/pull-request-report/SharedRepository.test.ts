import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { KillPoint, type KillPointName } from "../../../../actors/base/KillPoint.ts"
import { PullRequestReporter } from "../../../../actors/commands/pull-request-report/PullRequestReporter.ts"
import { ReportFacts } from "../../../../actors/commands/pull-request-report/ReportFacts.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import {
  PullRequestCapsuleRow,
  PullRequestRow,
  StaticReviewJson
} from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import { PullRequests } from "../../../../actors/ledger/pull-request/PullRequests.ts"
import { PullRequestReports } from "../../../../actors/ledger/pull-request-report/PullRequestReports.ts"
import { Workspaces } from "../../../../actors/ledger/workspace/Workspaces.ts"
import { CreateConnection } from "../../../../schema/api/ConnectionsApi.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import type { ForgeKind } from "../../../../schema/records/Forge.ts"
import { PullRequestId, type WorkspaceId } from "../../../../schema/records/Ids.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import { suite } from "../../../support/Effect.ts"
import { fakeForgejo } from "../../../support/forge/FakeForgejo.ts"
import { fakeGitHub } from "../../../support/forge/FakeGitHub.ts"
import { fakeGitLab } from "../../../support/forge/FakeGitLab.ts"
import { commitOf, type ForgeState, forgeState, openPullRequest } from "../../../support/forge/ForgeState.ts"
import { active } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { everyPermission } from "../../support/ForgeWorld.ts"
import { greeting } from "../../support/GreetingModule.ts"

setDefaultTimeout(120_000)

class FakeForges extends Context.Service<
  FakeForges,
  Readonly<Record<ForgeKind, { readonly state: ForgeState; readonly address: string }>>
>()("test/SharedRepository/FakeForges") {}

const forges = Layer.effect(
  FakeForges,
  Effect.gen(function* () {
    const [github, gitlab, forgejo] = [forgeState(), forgeState(), forgeState()]
    return {
      github: { state: github, address: yield* fakeGitHub(github) },
      gitlab: { state: gitlab, address: yield* fakeGitLab(gitlab) },
      forgejo: { state: forgejo, address: yield* fakeForgejo(forgejo) }
    }
  })
)

const tests = suite(
  Layer.unwrap(
    Effect.map(FakeForges, (served) => testPlane({ gitOrigins: Object.values(served).map(({ address }) => address) }))
  ).pipe(Layer.provideMerge(forges))
)
afterAll(tests.dispose)

const bodyOf = Schema.decodeUnknownSync(CreateConnection)
const emptyReview = StaticReviewJson.write({
  commit: commitOf("seen by one"),
  baseCommit: commitOf("base"),
  at: "2026-01-01T00:00:00.000Z",
  modules: [],
  more: 0
})
const ada = { id: 8, login: "ada" }
let worlds = 0
/** The Capsules that all worlds share, because installing one takes long. */
const capsules = new Map<string, Capsule>()

/** Thrown at a kill point to simulate that the process was killed there. */
class Killed extends Schema.TaggedError<Killed>()("Killed", {}) {}

/** The points between two steps of a report. */
const points: ReadonlyArray<KillPointName> = [
  "report.sending",
  "report.creating",
  "report.replacing",
  "report.commented",
  "report.noted",
  "report.status",
  "report.sent"
]

/**
 * Two Sources whose addresses are spelled differently, but which are one repository at the forge, each with a Connection to
 * another account and a Capsule that the pull request affects. Only the test sends reports.
 */
const twoSources = Effect.fnUntraced(function* (kind: ForgeKind) {
  const { address, state } = (yield* FakeForges)[kind]
  const { context, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  worlds += 1
  const number = worlds
  const repository = state.addRepository(`team/shared-${worlds}`)
  const opened = openPullRequest(repository, number, ada)
  const at = "2026-01-01T00:00:00.000Z"

  const sourceOf = Effect.fnUntraced(function* (side: "a" | "b", suffix: string, owner: WorkspaceId = workspaceId) {
    const account = { id: worlds * 10 + (side === "a" ? 1 : 2), login: `robot-${worlds}-${side}` }
    const token = `token-${worlds}-${side}`
    state.tokens.set(token, { account, permissions: new Set(everyPermission[kind]) })
    repository.collaborators.set(account.login, "write")
    const capsule = capsules.get(`${side} ${owner}`) ?? (yield* active(`${side}-${worlds}`, greeting("one"))).capsule
    capsules.set(`${side} ${owner}`, capsule)
    yield* sql`UPDATE sources SET workspace_id = ${owner}, status = 'active', removed_at = NULL
      WHERE id = ${capsule.sourceId}`
    yield* sql`UPDATE capsules SET workspace_id = ${owner} WHERE id = ${capsule.id}`
    const connection = yield* (yield* Connections).create(
      context,
      bodyOf({
        workspaceId: owner,
        provider: kind,
        kind: "forge",
        authMode: "token",
        displayName: `Comments ${worlds} ${side}`,
        values: { token },
        origins: [address]
      })
    )
    const url = `${address}/${repository.path}${suffix}`
    yield* sql`UPDATE sources SET url = ${url} WHERE id = ${capsule.sourceId}`
    const update = (request: Parameters<(typeof SourceCommands.Service)["Update"]>[1]["request"]) =>
      Effect.flatMap(SourceCommands, (commands) => commands.Update(capsule.sourceId, { context, request }))
    yield* update({ forgeConnectionId: connection.id })
    const id = PullRequestId.make(`pr_${side.repeat(20)}${worlds}`)
    yield* sql`INSERT INTO pull_requests ${PullRequestRow.values(sql, {
      id,
      workspace_id: owner,
      source_id: capsule.sourceId,
      number,
      ref: `refs/pull/${number}/head`,
      state: "open",
      head_commit: opened.headCommit,
      head_branch: "topic",
      fork: "no",
      base_branch: "main",
      base_commit: commitOf("base"),
      last_seen_at: at,
      created_at: at
    })}`
    yield* sql`INSERT INTO pull_request_capsules ${PullRequestCapsuleRow.values(sql, {
      pull_request_id: id,
      capsule_id: capsule.id,
      head_commit: opened.headCommit,
      touched: 1,
      refusal_code: "permission_denied",
      refusal_message: "A maintainer may plan this commit."
    })}`
    return { account, capsule, connection, id, token, update }
  })

  const { take } = yield* PullRequestReporter.pipe(
    Effect.provide(yield* Layer.build(Layer.fresh(PullRequestReporter.layer).pipe(Layer.provide(ReportFacts.layer))))
  )
  const takeUntil = (id: PullRequestId, point: KillPointName) =>
    Effect.gen(function* () {
      const dying = Layer.fresh(PullRequestReporter.layer).pipe(
        Layer.provide(ReportFacts.layer),
        Layer.provide(
          Layer.succeed(KillPoint, (name: KillPointName) => (name === point ? Effect.die(new Killed()) : Effect.void))
        )
      )
      const reporter = yield* PullRequestReporter.pipe(Effect.provide(yield* Layer.build(dying)))
      return Exit.isFailure(yield* Effect.exit(reporter.take(id)))
    })
  const head = (commit: string) => {
    opened.headCommit = commit
    return Effect.andThen(
      sql`UPDATE pull_requests SET head_commit = ${commit} WHERE number = ${number}`,
      sql`UPDATE pull_request_capsules SET head_commit = ${commit} WHERE pull_request_id IN (
        SELECT id FROM pull_requests WHERE number = ${number})`
    )
  }
  // GitLab refuses a status with the same state, so its text stays as it is.
  const isShown = (text: string) => kind === "gitlab" || statuses().at(-1)?.description === text
  const statuses = () => state.statuses.filter(({ commit }) => commit === opened.headCommit)
  return { head, isShown, number, opened, repository, sourceOf, sql, state, statuses, take, takeUntil }
})

describe("Pull request that two Sources follow", () => {
  for (const kind of ["github", "gitlab", "forgejo"] as const) {
    tests.live(`${kind}: has one comment and one status for the Capsules of both Sources`, () =>
      Effect.gen(function* () {
        const { head, isShown, opened, sourceOf, sql, state, statuses, take } = yield* twoSources(kind)
        const [a, b] = [yield* sourceOf("a", ".git"), yield* sourceOf("b", "")]
        for (const id of [b.id, a.id, b.id, a.id]) yield* take(id)
        expect(opened.comments.map(({ author }) => author.id)).toEqual([a.account.id])
        expect(opened.comments[0]?.body).toContain(a.capsule.name)
        expect(opened.comments[0]?.body).toContain(b.capsule.name)
        expect(opened.comments[0]?.body).toStartWith("**2 Capsules: 2 not planned.**")
        expect(isShown("2 Capsules: 2 not planned.")).toBe(true)
        expect(new Set(statuses().map(({ context }) => context)).size).toBe(1)
        // Both pages show the same report.
        const reads = yield* PullRequests
        const shown = yield* Effect.forEach([a.id, b.id], (id) => Effect.map(reads.read(id), ({ report }) => report))
        expect(shown[0]?.writtenAt).toBeDefined()
        expect(shown[1]).toEqual(shown[0])

        // Only the step of the first row writes, so that two steps never write at once.
        yield* head(commitOf(`${kind} second row`))
        const [, second] = yield* sql<{ id: PullRequestId }>`SELECT id FROM pull_requests
          WHERE id IN (${a.id}, ${b.id}) ORDER BY created_at, id`
        const calls = state.calls.length
        yield* take(second?.id ?? a.id)
        expect(state.calls.slice(calls)).toEqual([])
      })
    )

    for (const loss of ["disabled", "without its Connection", "removed", "rejected by the forge"] as const) {
      tests.live(`${kind}: keeps one comment after the Source that wrote it is ${loss}, even if svc is killed`, () =>
        Effect.gen(function* () {
          for (const point of points) {
            const { isShown, opened, sourceOf, sql, state, take, takeUntil } = yield* twoSources(kind)
            const [a, b] = [yield* sourceOf("a", ".git"), yield* sourceOf("b", "")]
            for (const id of [a.id, b.id, a.id]) yield* take(id)
            expect(opened.comments).toHaveLength(1)
            const before = yield* sql<{ due: number }>`SELECT SUM(due) AS due FROM pull_request_reports
              WHERE id IN (${a.id}, ${b.id})`
            if (loss === "disabled") yield* a.update({ status: "disabled" })
            if (loss === "without its Connection") yield* a.update({ forgeConnectionId: null })
            if (loss === "removed")
              yield* sql`UPDATE sources SET removed_at = created_at WHERE id = ${a.capsule.sourceId}`
            if (loss === "rejected by the forge") state.tokens.delete(a.token)
            const after = yield* sql<{ due: number }>`SELECT SUM(due) AS due FROM pull_request_reports
              WHERE id IN (${a.id}, ${b.id})`
            if (loss === "disabled" || loss === "without its Connection") {
              expect(after[0]?.due).toBeGreaterThan(before[0]?.due ?? 0)
            }
            yield* sql`UPDATE pull_request_capsules SET refusal_message = ${point} WHERE pull_request_id = ${b.id}`
            yield* takeUntil(a.id, point)
            yield* take(a.id)
            yield* take(a.id)
            const both = loss === "without its Connection" || loss === "rejected by the forge"
            const verdict = both ? "2 Capsules: 2 not planned." : "1 Capsule: 1 not planned."
            const authors = opened.comments.map(({ author }) => author.id)
            // Nobody can remove the comment of an account that the forge rejects.
            const left = loss === "rejected by the forge" ? [a.account.id] : []
            expect([point, authors]).toEqual([point, [...left, b.account.id]])
            expect(opened.comments.at(-1)?.body).toStartWith(`**${verdict}**`)
            expect(opened.comments.at(-1)?.body).toContain(point)
            expect(isShown(verdict)).toBe(true)
          }
        })
      )
    }

    tests.live(`${kind}: has one comment although svc is killed at any step`, () =>
      Effect.gen(function* () {
        for (const point of points) {
          const { head, isShown, opened, sourceOf, take, takeUntil } = yield* twoSources(kind)
          const [a, b] = [yield* sourceOf("a", ""), yield* sourceOf("b", "/")]
          yield* takeUntil(b.id, point)
          yield* takeUntil(a.id, point)
          yield* take(b.id)
          yield* take(a.id)
          expect([point, opened.comments.length]).toEqual([point, 1])
          yield* head(commitOf(`${kind} ${point}`))
          yield* takeUntil(a.id, point)
          yield* take(a.id)
          yield* take(b.id)
          expect([point, opened.comments.length]).toEqual([point, 1])
          expect(opened.comments[0]?.body).toContain(opened.headCommit.slice(0, 7))
          expect(isShown("2 Capsules: 2 not planned.")).toBe(true)
        }
      })
    )

    tests.live(`${kind}: two Workspaces keep two comments and two statuses`, () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const { opened, sourceOf, statuses, take } = yield* twoSources(kind)
        const other = yield* (yield* Workspaces).create(context, context.actor.subject ?? "", {
          handle: `other-${kind}`
        })
        const [a, b] = [yield* sourceOf("a", ""), yield* sourceOf("b", "", other.id)]
        for (const id of [a.id, b.id, a.id, b.id]) yield* take(id)
        expect(opened.comments.map(({ author }) => author.id)).toEqual([a.account.id, b.account.id])
        const markers = opened.comments.map(({ body }) => /<!-- svc .* -->/.exec(body)?.[0])
        expect(new Set(markers).size).toBe(2)
        expect(opened.comments.map(({ body }) => body.includes("**1 Capsule: 1 not planned.**"))).toEqual([true, true])
        expect(new Set(statuses().map((one) => one.context)).size).toBe(2)
      })
    )
  }

  tests.live("waits in its status for a Source that has not seen the new head", () =>
    Effect.gen(function* () {
      const { opened, sourceOf, sql, statuses, take } = yield* twoSources("forgejo")
      const [a, b] = [yield* sourceOf("a", ".git"), yield* sourceOf("b", "")]
      for (const id of [a.id, b.id, a.id]) yield* take(id)
      opened.headCommit = commitOf("seen by one")
      yield* sql`UPDATE pull_requests SET head_commit = ${opened.headCommit}, review = ${emptyReview} WHERE id = ${a.id}`
      yield* sql`UPDATE sources SET auto_sync = 1 WHERE id IN (${a.capsule.sourceId}, ${b.capsule.sourceId})`
      yield* take(a.id)
      expect(statuses().at(-1)).toMatchObject({
        state: "pending",
        description: "svc reads the files of this pull request."
      })
      // A Source that does not follow its repository will never see the head.
      yield* sql`UPDATE sources SET auto_sync = 0 WHERE id = ${b.capsule.sourceId}`
      yield* take(a.id)
      expect(statuses().at(-1)?.description).toBe("No Capsule uses the files of this pull request.")
    })
  )

  tests.live("has one status on the commit of a merge queue, which covers the Capsules of both Sources", () =>
    Effect.gen(function* () {
      const { number, opened, sourceOf, sql, state, statuses, take } = yield* twoSources("github")
      const [a, b] = [yield* sourceOf("a", ".git"), yield* sourceOf("b", "")]
      for (const id of [a.id, b.id]) {
        yield* sql`UPDATE pull_requests SET number = ${-number}, merge_group = ${`[${number}]`}, review = ${emptyReview},
          ref = ${`refs/heads/gh-readonly-queue/main/pr-${number}-${opened.headCommit}`} WHERE id = ${id}`
      }
      yield* sql`UPDATE pull_request_capsules SET touched = 0 WHERE pull_request_id = ${a.id}`
      for (const id of [a.id, b.id, a.id]) yield* take(id)
      expect(statuses().at(-1)).toMatchObject({ state: "failure" })
      expect(statuses().at(-1)?.description).toContain(b.capsule.name)
      expect(new Set(statuses().map(({ context }) => context)).size).toBe(1)
      expect(opened.comments).toEqual([])
      const calls = state.calls.length
      for (const id of [a.id, b.id]) yield* take(id)
      expect(state.calls).toHaveLength(calls)
    })
  )

  tests.live("is due once, and also for a change in a Source that does not report", () =>
    Effect.gen(function* () {
      const { sourceOf, sql, take } = yield* twoSources("forgejo")
      const [a, b] = [yield* sourceOf("a", ".git"), yield* sourceOf("b", "")]
      for (const id of [a.id, b.id, a.id]) yield* take(id)
      const { due } = yield* PullRequestReports
      const dueNow = Effect.gen(function* () {
        yield* sql`UPDATE pull_request_reports SET next_at = NULL WHERE id IN (${a.id}, ${b.id})`
        return (yield* due).flatMap(({ id }) => (id === a.id || id === b.id ? [id] : []))
      })
      // The plane's own reporter would take the report: the query must see it within this transaction.
      yield* Effect.gen(function* () {
        yield* sql`UPDATE pull_requests SET head_snapshot_id = ${"snap_x"} WHERE id IN (${a.id}, ${b.id})`
        expect(yield* dueNow).toEqual([a.id])
        yield* take(a.id)
        expect(yield* dueNow).toEqual([])
        yield* sql`UPDATE pull_request_reports SET due = due + 1 WHERE id = ${b.id}`
        expect(yield* dueNow).toEqual([a.id])
        // The second Source has no Connection any more, but its Capsules are still reported.
        yield* sql`UPDATE sources SET forge_connection_id = NULL WHERE id = ${b.capsule.sourceId}`
        expect(yield* dueNow).toEqual([a.id])
        yield* sql`UPDATE sources SET forge_connection_id = NULL WHERE id = ${a.capsule.sourceId}`
        expect(yield* dueNow).toEqual([])
      }).pipe(sql.withTransaction)
    })
  )
})
