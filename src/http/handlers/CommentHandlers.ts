import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { RunComments } from "../../../actors/commands/run/RunComments.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"
import { RunCommentId, RunId } from "../../../schema/records/Ids.ts"
import { RunComment } from "../../../schema/records/RunComment.ts"
import { commandContext, cursorOf, maybeIdempotent, pageRequest, pathId, repeatableAnswer } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const runOf = (params: { readonly runId: string }) => pathId(RunId, params.runId, "Run")
const writeAnswer = repeatableAnswer(SvcApi.groups.comments.endpoints.write, Schema.Struct({ comment: RunComment }))

/** Handlers for comments on Runs. */
export const commentHandlers = HttpApiBuilder.group(
  SvcApi,
  "comments",
  Effect.fn(function* (handlers) {
    const comments = yield* RunComments
    const runCommands = yield* RunCommands
    return storedAnswers("comments", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ params, query }) {
        const page = yield* comments.list(yield* runOf(params), yield* pageRequest(query))
        return { comments: page.items, ...cursorOf(page) }
      }),
      write: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* runOf(params)
        const { mentions = [], text } = payload
        const idempotency = yield* maybeIdempotent(headers, { runId: id, text, mentions: [...mentions] })
        const { replayed, value } = yield* runCommands.Comment(id, {
          context: yield* commandContext,
          text,
          mentions,
          ...(idempotency === undefined ? {} : { idempotency })
        })
        return yield* writeAnswer({ comment: value }, replayed)
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const commentId = yield* pathId(RunCommentId, params.commentId, "Comment")
        return {
          comment: yield* runCommands.RemoveComment(yield* runOf(params), { context: yield* commandContext, commentId })
        }
      })
    })
  })
)
