import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { PullRequestReads } from "../../../../actors/commands/pull-request/PullRequestReads.ts"
import { Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { PullRequests } from "../../../../actors/ledger/pull-request/PullRequests.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { ApprovalRules } from "../../../../actors/access/approval/ApprovalRules.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { admin, ownerScope, ruled, subjectOf } from "../../support/ApprovalSteps.ts"
import { DueWork } from "../../../../actors/base/DueWork.ts"
import { KillPoint, type KillPointName } from "../../../../actors/base/KillPoint.ts"
import { PullRequestReporter } from "../../../../actors/commands/pull-request-report/PullRequestReporter.ts"
import { ReportFacts } from "../../../../actors/commands/pull-request-report/ReportFacts.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import {
  PullRequestReportRow,
  PullRequestReports
} from "../../../../actors/ledger/pull-request-report/PullRequestReports.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { CommentLookRow } from "../../../../actors/commands/pull-request-report/CommentLooks.ts"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import {
  PullRequestCapsuleRow,
  PullRequestLookRow,
  PullRequestRow
} from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { CreateConnection } from "../../../../schema/api/ConnectionsApi.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import type { ForgeKind } from "../../../../schema/records/Forge.ts"
import { PullRequestId, RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { fakeGitHub } from "../../../support/forge/FakeGitHub.ts"
import { fakeGitLab } from "../../../support/forge/FakeGitLab.ts"
import { fakeForgejo } from "../../../support/forge/FakeForgejo.ts"
import {
  commitOf,
  type FakePullRequest,
  type ForgeState,
  forgeState,
  openPullRequest
} from "../../../support/forge/ForgeState.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, applied, freshKey, replanned, settled, stepped } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"

setDefaultTimeout(120_000)

const robot = { id: 7, login: "svc-robot" }
const ada = { id: 8, login: "ada" }

interface Served {
  readonly state: ForgeState
  readonly address: string
}

class FakeForges extends Context.Service<FakeForges, Readonly<Record<ForgeKind, Served>>>()(
  "test/PullRequestReporter/FakeForges"
) {}

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
let worlds = 0

/** The permissions that are sufficient for a token on each fake forge. */
const sufficient: Readonly<Record<ForgeKind, ReadonlyArray<string>>> = {
  github: ["pull_requests=read", "pull_requests=write", "statuses=write"],
  gitlab: ["api", "notes", "statuses"],
  forgejo: ["user", "repository", "issue"]
}

/** Thrown at a kill point to simulate that the process was killed there. */
class Killed extends Schema.TaggedError<Killed>()("Killed", {}) {}

/** Sets up a Capsule whose Source has a forge Connection, and a pull request that affects the Capsule. */
const worldOn = Effect.fnUntraced(function* (kind: ForgeKind) {
  const { address, state } = (yield* FakeForges)[kind]
  const { context, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  worlds += 1
  const number = worlds
  state.tokens.set("forge-token", { account: robot, permissions: new Set(sufficient[kind]) })
  const repository = state.addRepository(`team/app-${worlds}`)
  repository.collaborators.set(robot.login, "write")
  const { capsule } = yield* active(`lane-${worlds}`, greeting("one"))
  const connection = yield* (yield* Connections).create(
    context,
    bodyOf({
      workspaceId,
      provider: kind,
      kind: "forge",
      authMode: "token",
      displayName: "Comments",
      values: { token: "forge-token" },
      origins: [address]
    })
  )
  // A different fake serves the Source's repository, so the test writes the forge's repository address to the Source
  // directly.
  const servedAt = (url: string) => sql`UPDATE sources SET url = ${url} WHERE id = ${capsule.sourceId}`
  const forgeUrl = `${address}/${repository.path}.git`
  const { url: gitUrl } = yield* (yield* Sources).read(capsule.sourceId)
  yield* servedAt(forgeUrl)
  yield* (yield* SourceCommands).Update(capsule.sourceId, { context, request: { forgeConnectionId: connection.id } })
  const opened = openPullRequest(repository, number, ada)
  const at = "2026-01-01T00:00:00.000Z"
  const id = PullRequestId.make(`pr_${"a".repeat(20)}${worlds}`)
  yield* sql`INSERT INTO pull_requests ${PullRequestRow.values(sql, {
    id,
    workspace_id: workspaceId,
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
  const { take } = yield* PullRequestReporter.pipe(
    Effect.provide(yield* Layer.build(Layer.fresh(PullRequestReporter.layer).pipe(Layer.provide(ReportFacts.layer))))
  )
  /** Sends the report once, from a simulated process that is killed at this point. */
  const takeUntil = (point: KillPointName) =>
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
  const report = Effect.gen(function* () {
    const [row] = yield* PullRequestReportRow.rows(sql)`SELECT * FROM pull_request_reports WHERE id = ${id}`
    return row
  })
  const refuse = (message: string) =>
    sql`UPDATE pull_request_capsules SET refusal_message = ${message} WHERE pull_request_id = ${id}`
  const head = (commit: string) => {
    opened.headCommit = commit
    return Effect.andThen(
      sql`UPDATE pull_requests SET head_commit = ${commit} WHERE id = ${id}`,
      sql`UPDATE pull_request_capsules SET head_commit = ${commit} WHERE pull_request_id = ${id}`
    )
  }
  return {
    address,
    capsule,
    connection,
    context,
    head,
    id,
    opened,
    forgeUrl,
    gitUrl,
    servedAt,
    refuse,
    report,
    repository,
    sql,
    state,
    take,
    takeUntil
  }
})

const world = worldOn("forgejo")

const own = ({ comments }: FakePullRequest) => comments.filter(({ author }) => author.id === robot.id)

describe("Pull request report", () => {
  for (const kind of ["github", "gitlab", "forgejo"] as const) {
    tests.live(
      `${kind}: a report consists of one comment and one status, both updated in place, and sends no request if nothing changed`,
      () =>
        Effect.gen(function* () {
          const { head, id, opened, refuse, state, take } = yield* worldOn(kind)
          opened.comments.push({ id: 1, author: ada, body: "Nice", at: "2026-01-01T00:00:00.000Z" })
          yield* take(id)
          expect(own(opened)).toHaveLength(1)
          expect(own(opened)[0]?.body).toStartWith("**1 Capsule: 1 not planned.**")
          expect(state.statuses.at(-1)).toMatchObject({ commit: opened.headCommit, state: "pending" })
          const calls = state.calls.length
          yield* take(id)
          expect(state.calls).toHaveLength(calls)

          yield* refuse("Another reason.")
          yield* take(id)
          expect(own(opened)).toHaveLength(1)
          expect(own(opened)[0]?.body).toContain("Another reason.")
          // One request for the repository and one for the edit. The status is unchanged.
          expect(state.calls.slice(calls)).toHaveLength(2)

          yield* head(commitOf("a later head"))
          yield* take(id)
          expect(own(opened)).toHaveLength(1)
          expect(own(opened)[0]?.body).toContain(commitOf("a later head").slice(0, 7))
          expect(state.statuses.at(-1)?.commit).toBe(commitOf("a later head"))
        })
    )

    tests.live(`${kind}: a report creates exactly one comment, even if the server is killed at any step`, () =>
      Effect.gen(function* () {
        const points: ReadonlyArray<KillPointName> = [
          "report.sending",
          "report.creating",
          "report.commented",
          "report.noted",
          "report.status",
          "report.sent"
        ]
        for (const point of points) {
          const { head, id, opened, report, sql, state, take, takeUntil } = yield* worldOn(kind)
          expect([point, yield* takeUntil(point)]).toEqual([point, true])
          yield* take(id)
          expect([point, own(opened).length]).toEqual([point, 1])
          expect(state.statuses.at(-1)).toMatchObject({ commit: opened.headCommit })
          // Killing the process during a later report has the same result.
          yield* head(commitOf(point))
          yield* takeUntil(point)
          yield* take(id)
          expect([point, own(opened).length]).toEqual([point, 1])
          expect(own(opened)[0]?.body).toContain(commitOf(point).slice(0, 7))
          expect(state.statuses.at(-1)?.commit).toBe(commitOf(point))
          expect((yield* report)?.failures).toBe(0)

          // After the merge there are two statuses.
          const merge = commitOf(`merge ${point}`)
          yield* sql`UPDATE pull_requests SET state = 'merged', merge_commit = ${merge},
            closed_at = ${new Date().toISOString()} WHERE id = ${id}`
          const ofMerge = () => state.statuses.filter(({ commit }) => commit === merge)
          yield* takeUntil(point)
          if (point === "report.status") {
            expect(state.statuses.at(-1)).toMatchObject({ commit: opened.headCommit })
            expect(ofMerge()).toEqual([])
          }
          yield* take(id)
          expect([point, own(opened).length]).toEqual([point, 1])
          expect(own(opened)[0]?.body).toStartWith("**1 Capsule: 1 planning.**")
          expect(ofMerge().at(-1)?.description).toBe("1 Capsule: 1 planning.")
          if (kind !== "gitlab") {
            const ofHead = state.statuses.findLast(({ commit }) => commit === opened.headCommit)
            expect(ofHead?.description).toBe("1 Capsule: 1 planning.")
          }
        }
      })
    )

    tests.live(`${kind}: a report finds its existing comment if the response that confirmed the comment was lost`, () =>
      Effect.gen(function* () {
        const { id, opened, report, state, take } = yield* worldOn(kind)
        // svc reads the repository, account and comments, and loses the response to the new comment.
        state.troubles.push(undefined, undefined, undefined, { kind: "lost answer" })
        yield* take(id)
        expect((yield* report)?.error_code).toBe("unavailable")
        expect(own(opened)).toHaveLength(1)
        yield* take(id)
        expect(own(opened)).toHaveLength(1)
        expect(yield* report).toMatchObject({ failures: 0, error_code: null })
      })
    )

    tests.live(
      `${kind}: a report recreates its comment if it is deleted, restores the comment if it is edited, and never edits another person's comment`,
      () =>
        Effect.gen(function* () {
          const { id, opened, refuse, take } = yield* worldOn(kind)
          yield* take(id)
          const body = own(opened)[0]?.body ?? ""
          opened.comments.push({ id: 99, author: ada, body, at: "2026-01-01T00:00:00.000Z" })
          opened.comments.splice(0, 1)
          yield* refuse("After the deletion.")
          yield* take(id)
          expect(own(opened)).toHaveLength(1)
          expect(opened.comments.find(({ author }) => author.id === ada.id)?.body).toBe(body)
          const comment = own(opened)[0]
          if (comment !== undefined) comment.body = "Approved by everybody!"
          yield* refuse("After the edit.")
          yield* take(id)
          expect(own(opened).map((one) => one.body.includes("After the edit."))).toEqual([true])
        })
    )

    tests.live(`${kind}: a report waits as long as the forge requires, and records the reason for the failure`, () =>
      Effect.gen(function* () {
        const { id, opened, report, sql, state, take } = yield* worldOn(kind)
        const { due } = yield* PullRequestReports
        const isDue = Effect.map(due, (rows) => rows.some((row) => row.id === id))
        state.troubles.push({ kind: "secondary limit", seconds: 300 })
        yield* take(id)
        expect(yield* report).toMatchObject({ failures: 1, error_code: "limited" })
        // The server's own reporter may report from now on, but not before the time that the forge requires.
        yield* sql`UPDATE pull_requests SET head_snapshot_id = ${"snap_x"} WHERE id = ${id}`
        expect(yield* isDue).toBe(false)
        state.tokens.delete("forge-token")
        yield* take(id)
        const refused = yield* report
        const shown = yield* (yield* PullRequests).read(id)
        expect(shown.report).toEqual({ error: { code: "unauthorized", message: refused?.error_message ?? "" } })
        expect(refused).toMatchObject({ failures: 2, error_code: "unauthorized" })
        expect(refused?.error_message).not.toContain("forge-token")
        expect(own(opened)).toEqual([])
      })
    )

    tests.live(
      `${kind}: a report follows a renamed repository, and ignores another repository that took the old name`,
      () =>
        Effect.gen(function* () {
          const { id, opened, refuse, repository, state, take } = yield* worldOn(kind)
          yield* take(id)
          const path = repository.path
          state.rename(repository, `${path}-renamed`)
          const squatter = openPullRequest(state.addRepository(path), opened.number, ada)
          yield* refuse("After the rename.")
          yield* take(id)
          expect(own(opened)[0]?.body).toContain("After the rename.")
          expect(squatter.comments).toEqual([])
          repository.hidden = true
          yield* refuse("After the transfer.")
          yield* take(id)
          expect(squatter.comments).toEqual([])
        })
    )
  }

  tests.live("after the merge, a report is updated automatically as the lane is planned and applied", () =>
    Effect.gen(function* () {
      const { capsule, context, forgeUrl, gitUrl, id, opened, servedAt, sql, state } = yield* world
      const { commit } = yield* TestPlane
      const work = yield* DueWork
      yield* sql`UPDATE pull_requests SET head_snapshot_id = ${"snap_seen"} WHERE id = ${id}`
      const statusBecomes = (description: string) =>
        eventually(
          // Ignores the minimum time between two edits, and triggers the due work immediately instead of waiting for its
          // next pass.
          sql`UPDATE pull_request_reports SET next_at = NULL WHERE id = ${id}`.pipe(
            Effect.andThen(work.wake),
            Effect.map(() => state.statuses.findLast((one) => one.commit === opened.headCommit)?.description)
          ),
          (shown) => shown === description
        )
      yield* statusBecomes("1 Capsule: 1 not planned.")

      yield* servedAt(gitUrl)
      const merged = yield* commit(capsule.adoptedSourceRevision?.ref ?? "", greeting("two"))
      const sync = yield* (yield* SourceCommands).Sync(capsule.sourceId, {
        context,
        intent: "manual_plan",
        trigger: "user"
      })
      yield* settled(sync.id)
      yield* servedAt(forgeUrl)
      yield* sql`UPDATE pull_requests SET state = 'merged', merge_commit = ${merged}, closed_at = ${new Date().toISOString()}
        WHERE id = ${id}`
      yield* statusBecomes("1 Capsule: 1 planning.")
      const plan = yield* replanned(capsule.id)
      yield* statusBecomes("1 Capsule: 1 needs approval.")
      expect(own(opened)[0]?.body).toContain("needs approval: `1 of admin or above`")
      expect(own(opened)[0]?.body).toContain(`/runs/${plan.id}`)
      expect((yield* applied(plan)).status).toBe("succeeded")
      yield* statusBecomes("1 Capsule: 1 applied.")
      expect(own(opened)).toHaveLength(1)
      // Since the merge, the statuses have also been set on the merge commit.
      // svc sets the status of the head first, so the status of the merge commit may still be missing.
      const ofMerge = yield* eventually(
        Effect.sync(() => state.statuses.filter((one) => one.commit === merged).map(({ description }) => description)),
        (descriptions) => descriptions.at(-1) === "1 Capsule: 1 applied."
      )
      expect(ofMerge).toContain("1 Capsule: 1 needs approval.")
    })
  )

  tests.live(
    "the comment /svc plan plans the head again if the comment author has write access, and otherwise does nothing",
    () =>
      Effect.gen(function* () {
        const { capsule, context, id, opened, repository, sql, state } = yield* world
        const { workspaceId } = yield* TestPlane
        const work = yield* DueWork
        state.accounts.set(ada.login, ada)
        state.accounts.set("mallory", { id: 9, login: "mallory" })
        repository.collaborators.set(ada.login, "write")
        const looks = (taken: number) =>
          sql`INSERT INTO pull_request_looks ${PullRequestLookRow.values(sql, {
            source_id: capsule.sourceId,
            workspace_id: workspaceId,
            asked: taken,
            taken
          })} ON CONFLICT (source_id) DO UPDATE SET asked = ${taken}, taken = ${taken}`
        const readAfter = (taken: number) =>
          Effect.andThen(
            looks(taken),
            eventually(
              work.wake.pipe(
                Effect.andThen(CommentLookRow.rows(sql)`SELECT * FROM comment_looks WHERE id = ${capsule.sourceId}`)
              ),
              ([row]) => row?.taken === taken
            )
          )
        const attempts = Effect.gen(function* () {
          const [row] = yield* PullRequestRow.rows(sql)`SELECT * FROM pull_requests WHERE id = ${id}`
          return row?.attempt
        })
        const comment = (author: typeof ada, body: string, at = new Date().toISOString()) =>
          opened.comments.push({ id: state.nextId(), author, body, at })
        comment(ada, "/svc plan", "2026-01-01T00:00:00.000Z")
        yield* readAfter(1)
        expect(yield* attempts).toBe(0)
        comment({ id: 9, login: "mallory" }, "/svc plan")
        // A forge returns no data about a deleted account.
        comment({ id: 404, login: "deleted" }, "/svc plan")
        comment(ada, "/svc apply")
        comment(ada, "Please /svc plan")
        yield* readAfter(2)
        expect(yield* attempts).toBe(0)
        comment(ada, " /svc plan\n")
        yield* readAfter(3)
        expect(yield* attempts).toBe(1)
        yield* readAfter(4)
        expect(yield* attempts).toBe(1)
        const { items } = yield* (yield* Audit).list(
          workspaceId,
          context.actor.subject ?? "",
          { action: "pull_request.replan" },
          { limit: 10 }
        )
        expect(items).toMatchObject([{ actor: { kind: "webhook" }, data: { pullRequestId: id, login: "ada" } }])
      })
  )

  tests.live(
    "a report that uses another account replaces its comment, or leaves it if the earlier Connection was revoked",
    () =>
      Effect.gen(function* () {
        const { address, capsule, connection, context, id, opened, repository, state, take } = yield* world
        yield* take(id)
        const before = own(opened)[0]?.body
        const other = { id: 17, login: "second-robot" }
        state.tokens.set("second-token", { account: other, permissions: new Set(["user", "repository", "issue"]) })
        repository.collaborators.set(other.login, "write")
        const { workspaceId } = yield* TestPlane
        const second = yield* (yield* Connections).create(
          context,
          bodyOf({
            workspaceId,
            provider: "forgejo",
            kind: "forge",
            displayName: "Second",
            values: { token: "second-token" },
            origins: [address]
          })
        )
        yield* (yield* SourceCommands).Update(capsule.sourceId, { context, request: { forgeConnectionId: second.id } })
        yield* take(id)
        yield* take(id)
        expect(opened.comments.map(({ author }) => author.id)).toEqual([other.id])
        expect(opened.comments[0]?.body).toBe(before ?? "")
        // The first account cannot remove a comment of a Connection that is revoked.
        yield* (yield* ConnectionCommands).Revoke(second.id, { context })
        yield* (yield* SourceCommands).Update(capsule.sourceId, {
          context,
          request: { forgeConnectionId: connection.id }
        })
        yield* take(id)
        expect(opened.comments.map(({ author }) => author.id)).toEqual([other.id, robot.id])
      })
  )

  tests.live(
    "a report shows that a change was approved and, after the merge, how the plan differs from the approved change",
    () =>
      Effect.gen(function* () {
        const { capsule, context, forgeUrl, gitUrl, id, opened, report, servedAt, sql, state, take } = yield* world
        const { commit, moveBranch } = yield* TestPlane
        const rule = yield* ruled({ approvers: 1, planAuthorCounts: false, carryOver: "approval" })
        const lane = capsule.adoptedSourceRevision?.ref ?? ""
        yield* servedAt(gitUrl)
        yield* moveBranch(`${lane}-change`, capsule.adoptedSourceRevision?.resolvedCommit)
        yield* commit(`${lane}-change`, greeting("two"))
        const { value } = yield* (yield* RevisionPlans).create(
          context,
          capsule.id,
          { ref: `${lane}-change`, speculative: true },
          freshKey()
        )
        const { planRunId } = yield* stepped((yield* RevisionPlanCommands).Reconcile(value.id, { context }))
        const change = yield* settled(RunId.make(planRunId ?? ""))
        yield* sql`UPDATE runs SET coordinator_kind = 'pull_request', coordinator_id = ${id} WHERE id = ${change.id}`
        yield* sql`UPDATE pull_request_capsules SET run_id = ${change.id}, refusal_code = NULL, refusal_message = NULL
        WHERE pull_request_id = ${id}`
        yield* servedAt(forgeUrl)
        yield* take(id)
        expect(state.statuses.at(-1)?.description).toBe("1 Capsule: 1 planned.")
        const approving = yield* admin
        const before = (yield* report)?.due
        yield* (yield* RunCommands).ApproveChange(change.id, {
          context: approving,
          planDigest: change.planDigest ?? "",
          changeDigest: change.changeDigest ?? ""
        })
        expect((yield* report)?.due).toBe((before ?? 0) + 1)
        yield* take(id)
        expect(state.statuses.at(-1)?.description).toBe("1 Capsule: 1 approved.")
        expect(own(opened)[0]?.body).toContain((change.changeDigest ?? "").replace("hmac-sha256:", "").slice(0, 12))

        // Each change alone marks the report as due.
        const shownNext = Effect.gen(function* () {
          const row = yield* report
          expect(row?.due).toBeGreaterThan(row?.taken ?? 0)
          yield* take(id)
          return state.statuses.at(-1)?.description
        })
        const scope = yield* ownerScope

        // One approval is not enough for a rule that needs two.
        const reported = Effect.fnUntraced(function* (approvers: number) {
          yield* (yield* ApprovalRules).update(context, scope, rule.id, { approvers })
          return yield* shownNext
        })
        const reads = yield* PullRequestReads
        expect(yield* reported(2)).toBe("1 Capsule: 1 planned.")
        expect(yield* reads.read(id)).toMatchObject({ capsules: [{ verdict: "planned", awaits: [{ approvers: 2 }] }] })
        expect(own(opened)[0]?.body).toContain("planned: `needs 2 of admin or above`")
        expect(yield* reported(1)).toBe("1 Capsule: 1 approved.")
        expect(yield* reads.read(id)).toMatchObject({ capsules: [{ verdict: "approved" }] })
        // The approver loses the role that the rule requires.
        const acting = { workspaceId: scope.workspaceId, acting: { subject: scope.subject } }
        const approver = subjectOf(approving)
        const members = yield* Members
        yield* members.update(context, acting, approver, { role: "member" })
        expect(yield* reads.read(id)).toMatchObject({ capsules: [{ verdict: "planned" }], counts: { planned: 1 } })
        expect(yield* shownNext).toBe("1 Capsule: 1 planned.")
        yield* members.update(context, acting, approver, { role: "admin" })
        expect(yield* shownNext).toBe("1 Capsule: 1 approved.")
        yield* (yield* Users).setStatus(context, approver, "disabled")
        expect(yield* shownNext).toBe("1 Capsule: 1 planned.")
        yield* (yield* Users).setStatus(context, approver, "active")
        expect(yield* shownNext).toBe("1 Capsule: 1 approved.")

        yield* servedAt(gitUrl)
        const merged = yield* commit(lane, greeting("three"))
        yield* sql`UPDATE pull_requests SET state = 'merged', merge_commit = ${merged}, closed_at = ${new Date().toISOString()}
        WHERE id = ${id}`
        yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
        const plan = yield* replanned(capsule.id)
        expect(plan.differsFrom).toBeDefined()
        yield* servedAt(forgeUrl)
        yield* take(id)
        expect(state.statuses.at(-1)).toMatchObject({
          state: "failure",
          description: "1 Capsule: 1 differs from the approved change."
        })
        expect(own(opened)).toHaveLength(1)
        expect(own(opened)[0]?.body).toContain("Differs from the approved change:\n\n- `")
        // The lines of the difference contain no values.
        expect(plan.differsFrom?.lines?.some(({ text }) => text.includes("three"))).toBe(true)
        expect(own(opened)[0]?.body).not.toMatch(/two|three/)
      })
  )
})
