import { Schema } from "effect"
import { RunCommentId, RunId, Subject } from "./Ids.ts"
import { requiredText, Timestamp } from "./Primitives.ts"

/** Maximum number of code points in a comment. */
export const longestComment = 4000

/** Maximum number of people mentioned in a comment. */
export const mostMentions = 20

/** The text of a new comment. */
export const CommentText = requiredText(longestComment)

/**
 * A comment on a Run, stored with known secrets masked. Comments cannot be edited. When the author removes a comment, svc
 * sets its `removedAt` and deletes its `text` and `mentions`.
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
