import { Schema } from "effect"

/** The error if the demo found that the installation does not behave as expected. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}
