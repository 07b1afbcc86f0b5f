import { Effect, Layer } from "effect"
import { PullRequestCommands } from "../../../schema/commands/PullRequestCommands.ts"
import { serve } from "../../Actor.ts"
import { DueWork } from "../../base/DueWork.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { PullRequestLooks } from "./PullRequestLooks.ts"
import { PullRequestSteps } from "./PullRequestSteps.ts"

/** The actors of pull requests. Each takes the steps of one pull request, one at a time. */
const actors = serve(PullRequestCommands, {
  Advance: (id) => Effect.flatMap(PullRequestSteps, (steps) => steps.take(id))
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
