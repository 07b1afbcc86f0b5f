import { Schema } from "effect"
import { Timestamp } from "./Primitives.ts"

/**
 * A commit's message and author names, bounded, as plain text: control characters are made visible, and addresses are left out.
 * None of it has been verified. Absent for a commit fetched by an earlier release.
 */
export class CommitDescription extends Schema.Opaque<CommitDescription>()(
  Schema.Struct({
    /** The first line of the message. */
    title: Schema.String,
    /** The rest of the message. */
    body: Schema.optionalKey(Schema.String),
    /** A name without the e-mail address. */
    authorName: Schema.optionalKey(Schema.String),
    authoredAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "CommitDescription" })
) {}
