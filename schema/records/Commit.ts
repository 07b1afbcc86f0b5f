import { Schema } from "effect"
import { Timestamp } from "./Primitives.ts"

/**
 * A commit's message and author names as plain text of limited length, with control characters made visible and email addresses
 * removed. None of these texts is verified. Absent if an earlier release fetched the commit.
 */
export class CommitDescription extends Schema.Opaque<CommitDescription>()(
  Schema.Struct({
    /** First line of the message. */
    title: Schema.String,
    /** The message without its first line. */
    body: Schema.optionalKey(Schema.String),
    /** The author's name without the email address. */
    authorName: Schema.optionalKey(Schema.String),
    authoredAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "CommitDescription" })
) {}
