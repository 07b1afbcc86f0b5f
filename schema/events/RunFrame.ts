import { Schema } from "effect"
import { RunLogEntry } from "./RunEvent.ts"

export const EntriesFrame = Schema.Struct({ entries: Schema.Array(RunLogEntry) })
/** The last frame of a live stream. */
export const DoneFrame = Schema.Struct({ done: Schema.Literal(true) })

/** A frame of a Run's live log, as the data of a server-sent event. */
export const RunLogFrame = Schema.Union([EntriesFrame, DoneFrame]).annotate({ identifier: "RunLogFrame" })
