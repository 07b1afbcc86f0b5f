import { Schema } from "effect"

/** The demo found something unexpected in a working installation. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}
