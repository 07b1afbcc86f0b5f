import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RunRow } from "../../../../actors/ledger/run/RunRow.ts"
import { PullRequestCommands } from "../../../../schema/commands/PullRequestCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import type { UpdateSource } from "../../../../schema/api/SourcesApi.ts"
import type { PullRequestId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { ada, onForge, planeOnForge } from "../../support/ForgeWorld.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { calm, looked, readOf } from "../../support/PullRequestWorld.ts"
import { CommentLookRow } from "../../../../actors/commands/pull-request-report/CommentLooks.ts"
import { PullRequestLookRow } from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import { DueWork } from "../../../../actors/base/DueWork.ts"

setDefaultTimeout(120_000)

const mallory = { id: 9, login: "mallory" }

describe("/svc plan", () => {
  const tests = suite(planeOnForge("github"))
  afterAll(tests.dispose)

  const world = Effect.fnUntraced(function* (lane: string, fork: boolean) {
    const { context } = yield* TestPlane
    const sql = yield* SqlClient.SqlClient
    const work = yield* DueWork
    const forge = yield* onForge(lane, greeting("one"), { pullRequests: "static" })
    const { repository, secret, source, state } = forge
    for (const account of [ada, mallory]) state.accounts.set(account.login, account)
    repository.collaborators.set(ada.login, "write")
    const opened = yield* forge.opens(1, greeting("two"), fork ? { headRepositoryId: 4711 } : {})
    /** Looks at the repository, reads the new comments, and waits until nothing is due. */
    const look = Effect.gen(function* () {
      yield* looked(source.id, secret)
      yield* eventually(
        work.wake.pipe(
          Effect.andThen(
            Effect.all([
              CommentLookRow.rows(sql)`SELECT * FROM comment_looks WHERE id = ${source.id}`,
              PullRequestLookRow.rows(sql)`SELECT * FROM pull_request_looks WHERE source_id = ${source.id}`
            ])
          )
        ),
        ([[comments], [poll]]) => comments !== undefined && comments.taken === poll?.taken
      )
      yield* calm(source.id)
      return yield* readOf(source.id, 1)
    })
    const comment = (author: typeof ada, body = "/svc plan") =>
      opened.comments.push({ id: state.nextId(), author, body, at: new Date().toISOString() })
    const plansOf = (id: PullRequestId) =>
      Effect.map(
        RunRow.some(sql, "id", "status", "resolved_commit")`SELECT id, status, resolved_commit FROM runs
          WHERE coordinator_id = ${id} AND type = 'plan' ORDER BY created_at, id`,
        (rows) => rows.map(({ id: run, resolved_commit, status }) => ({ run, resolved_commit, status }))
      )
    const update = (request: UpdateSource) =>
      Effect.flatMap(SourceCommands, (commands) => commands.Update(source.id, { context, request }))
    return { comment, context, look, opened, plansOf, update }
  })

  tests.live("never plans a head against the Source's rule, and plans it anew once the rule allows it", () =>
    Effect.gen(function* () {
      const { comment, look, opened, plansOf, update } = yield* world("comments", false)
      const reviewed = yield* look
      expect(reviewed.capsules).toMatchObject([{ refusal: { code: "static_review" } }])
      comment(ada)
      expect((yield* look).capsules).toMatchObject([{ refusal: { code: "static_review" } }])
      expect(yield* plansOf(reviewed.id)).toEqual([])

      yield* update({ pullRequests: "own_branches" })
      yield* look
      const [first, ...none] = yield* plansOf(reviewed.id)
      expect([first?.status, none]).toEqual(["succeeded", []])
      comment(mallory)
      yield* look
      expect(yield* plansOf(reviewed.id)).toHaveLength(1)

      // Repeated and late deliveries of the same comment make one plan.
      comment(ada)
      yield* look
      yield* look
      const page = yield* look
      const plans = yield* plansOf(reviewed.id)
      expect(plans).toMatchObject([
        { run: first?.run ?? "", resolved_commit: opened.headCommit },
        { status: "succeeded", resolved_commit: opened.headCommit }
      ])
      expect(page.capsules).toMatchObject([{ verdict: "planned", run: { id: plans[1]?.run ?? "" } }])
      expect(page.capsules?.[0]).not.toHaveProperty("refusal")
    })
  )

  tests.live("plans a stranger's head anew only while an admin's permission for exactly this commit stands", () =>
    Effect.gen(function* () {
      const { comment, context, look, opened, plansOf } = yield* world("strangers", true)
      const reviewed = yield* look
      expect(reviewed.capsules).toMatchObject([{ refusal: { code: "static_review" } }])
      comment(ada)
      yield* look
      expect(yield* plansOf(reviewed.id)).toEqual([])
      yield* (yield* PullRequestCommands).Plan(reviewed.id, { context, commit: opened.headCommit })
      yield* look
      expect(yield* plansOf(reviewed.id)).toMatchObject([{ status: "succeeded" }])
      comment(mallory)
      yield* look
      expect(yield* plansOf(reviewed.id)).toHaveLength(1)
      comment(ada)
      yield* look
      yield* look
      expect(yield* plansOf(reviewed.id)).toMatchObject([{ status: "succeeded" }, { status: "succeeded" }])
    })
  )
})
