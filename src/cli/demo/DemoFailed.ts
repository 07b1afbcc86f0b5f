import { Schema } from "effect"

/** The demo found something that a working installation would not do. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}
