import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Subject } from "../records/Ids.ts"
import { CommentText, mostMentions, RunComment } from "../records/RunComment.ts"
import { repeatable } from "./AnswerStatus.ts"
import { optionalIdempotencyHeaders } from "./IdempotencyHeaders.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const ofRun = { runId: Schema.String }
const record = Schema.Struct({ comment: RunComment })

export class CommentsApi extends HttpApiGroup.make("comments")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/runs/:runId/comments", {
      params: ofRun,
      query: pageQuery,
      success: Schema.Struct({ comments: Schema.Array(RunComment), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("write", "/api/v1/runs/:runId/comments", {
      params: ofRun,
      headers: optionalIdempotencyHeaders,
      payload: Schema.Struct({
        text: CommentText,
        mentions: Schema.optionalKey(Schema.Array(Subject).check(Schema.isMaxLength(mostMentions)))
      }),
      success: repeatable(record)
    })
  )
  .add(
    HttpApiEndpoint.delete("remove", "/api/v1/runs/:runId/comments/:commentId", {
      params: { ...ofRun, commentId: Schema.String },
      success: record
    })
  )
  .annotateEndpoints(ExtensionFamily, "run-comments") {}
