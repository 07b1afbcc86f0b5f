import { Schema } from "effect"
import { RunCommentId, RunId, Subject } from "./Ids.ts"
import { requiredText, Timestamp } from "./Primitives.ts"

/** Most code points of a comment. */
export const longestComment = 4000

/** Most people whom one comment mentions. */
export const mostMentions = 20

/** The text of a new comment. */
export const CommentText = requiredText(longestComment)

/**
 * A comment on a Run, as stored: secrets that the service knows are masked. A comment never changes; once its author has removed
 * it, only `removedAt` and the facts without `text` and `mentions` remain.
 */
export class RunComment extends Schema.Opaque<RunComment>()(
  Schema.Struct({
    id: RunCommentId,
    runId: RunId,
    author: Subject,
    text: Schema.optionalKey(Schema.String),
    mentions: Schema.optionalKey(Schema.Array(Subject)),
    createdAt: Timestamp,
    removedAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "RunComment" })
) {}
