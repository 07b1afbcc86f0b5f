import { Schema } from "effect"

/** The demo found behaviour that a working installation does not have. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}
