import { Schema } from "effect"

/** Error if the demo found a deviation from the behaviour of a working installation. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}
