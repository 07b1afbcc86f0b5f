import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { PullRequestReads } from "../../../actors/commands/pull-request/PullRequestReads.ts"
import { PullRequests } from "../../../actors/ledger/pull-request/PullRequests.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { PullRequestCommands } from "../../../schema/commands/PullRequestCommands.ts"
import { CapsuleId, PullRequestId } from "../../../schema/records/Ids.ts"
import { authorisedWorkspace, commandContext, cursorOf, pageRequest, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const pullRequestOf = (params: { readonly pullRequestId: string }) =>
  pathId(PullRequestId, params.pullRequestId, "Pull request")

/** Handlers for pull requests. */
export const pullRequestHandlers = HttpApiBuilder.group(
  SvcApi,
  "pullRequests",
  Effect.fn(function* (handlers) {
    const pullRequests = yield* PullRequests
    const reads = yield* PullRequestReads
    const commands = yield* PullRequestCommands
    return storedAnswers("pullRequests", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pullRequests.list(yield* authorisedWorkspace, query, yield* pageRequest(query))
        return { pullRequests: page.items, ...cursorOf(page) }
      }),
      ofCapsule: Effect.fnUntraced(function* ({ params, query }) {
        const id = yield* pathId(CapsuleId, params.capsuleId, "Capsule")
        const page = yield* pullRequests.ofCapsule(id, query, yield* pageRequest(query))
        return { pullRequests: page.items, ...cursorOf(page) }
      }),
      read: Effect.fnUntraced(function* ({ params }) {
        return { pullRequest: yield* reads.read(yield* pullRequestOf(params)) }
      }),
      plan: Effect.fnUntraced(function* ({ params, payload }) {
        const id = yield* pullRequestOf(params)
        return { pullRequest: yield* commands.Plan(id, { context: yield* commandContext, commit: payload.commit }) }
      })
    })
  })
)
