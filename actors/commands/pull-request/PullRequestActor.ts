import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { PullRequestCommands } from "../../../schema/commands/PullRequestCommands.ts"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import { serve } from "../../Actor.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transacted } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { now } from "../../base/Identity.ts"
import { numberOf, PlanningActorJson, toPullRequest } from "../../ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { PullRequestLooks } from "./PullRequestLooks.ts"
import { PullRequestSteps } from "./PullRequestSteps.ts"

/** The pull request actors. Each executes the steps of one pull request, one at a time. */
const actors = serve(PullRequestCommands, {
  Advance: (id) => Effect.flatMap(PullRequestSteps, (steps) => steps.take(id)),

  Plan: Effect.fnUntraced(function* (id, { commit, context }) {
    const store = yield* PullRequestStore
    const row = yield* store.find(id)
    if (row === undefined) return yield* notFound("Pull request")
    const { subject } = context.actor
    if (subject === undefined) return yield* failedPrecondition("Only a person allows a commit to be planned.")
    if (row.state !== "open") return yield* failedPrecondition(`The pull request is ${row.state}.`)
    const source = yield* (yield* SourceStore).find(row.source_id)
    if (source?.pull_requests === "off") {
      return yield* failedPrecondition("The Source ignores its pull requests (`pullRequests` is off).")
    }
    if (row.head_commit !== commit) {
      return yield* new ApiError({
        code: "guard_conflict",
        message: `commit: the head of #${numberOf(row)} is ${row.head_commit} now, not ${commit}. Read the review of that commit first.`
      })
    }
    yield* store.update(id, {
      planned_commit: commit,
      planned_by: Subject.make(subject),
      planned_at: yield* now,
      planned_actor: PlanningActorJson.write(context)
    })
    yield* store.unplanned(row)
    yield* store.mark(id)
    yield* (yield* Audit).append({
      workspaceId: row.workspace_id,
      actor: context.actor,
      action: "pull_request.plan",
      target: { kind: "source", id: row.source_id },
      data: { pullRequestId: id, number: numberOf(row), commit },
      requestId: context.requestId
    })
    yield* (yield* SqlClient.SqlClient).afterCommit((yield* DueWork).wake)
    return toPullRequest((yield* store.find(id)) ?? row)
  }, transacted)
})

const dueWork = Layer.effectDiscard(
  Effect.gen(function* () {
    const due = yield* DueWork
    const store = yield* PullRequestStore
    const looks = yield* PullRequestLooks
    const pullRequests = yield* PullRequestCommands
    yield* due.serve({ kind: "pull_request_look", due: store.dueLooks, step: looks.take })
    yield* due.serve({ kind: "pull_request", due: store.due, step: ({ id }) => pullRequests.Advance(id) })
  })
)

export const layer = Layer.merge(actors, dueWork)
