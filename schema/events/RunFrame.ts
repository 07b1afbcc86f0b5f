import { Schema } from "effect"
import { RunEvent, RunLogEntry } from "./RunEvent.ts"

/** The last frame of a live stream: nothing follows. */
const Done = Schema.Struct({ done: Schema.Literal(true) })

/** One frame of the live events of a Run: a WebSocket message, or the data of a server-sent event. */
export const RunEventFrame = Schema.Union([Schema.Struct({ events: Schema.Array(RunEvent) }), Done]).annotate({
  identifier: "RunEventFrame"
})

/** One frame of the live log of a Run. */
export const RunLogFrame = Schema.Union([Schema.Struct({ entries: Schema.Array(RunLogEntry) }), Done]).annotate({
  identifier: "RunLogFrame"
})
