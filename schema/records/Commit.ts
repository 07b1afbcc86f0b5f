import { Schema } from "effect"
import { Timestamp } from "./Primitives.ts"

/**
 * The author's message and names of a commit, bounded, as plain text: control characters are visible, and addresses are left
 * out. Nobody has checked any of it. A commit that an earlier release fetched has none.
 */
export class CommitDescription extends Schema.Opaque<CommitDescription>()(
  Schema.Struct({
    /** The first line of the message. */
    title: Schema.String,
    /** The rest of the message. */
    body: Schema.optionalKey(Schema.String),
    /** A name without its e-mail address. */
    authorName: Schema.optionalKey(Schema.String),
    authoredAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "CommitDescription" })
) {}
