import { Schema } from "effect"

/** The demo met something other than what it expects of a working installation. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}
