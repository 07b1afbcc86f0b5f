import { Schema } from "effect"
import { RunEvent, RunLogEntry } from "./RunEvent.ts"

const Events = Schema.Struct({ events: Schema.Array(RunEvent) })
const Entries = Schema.Struct({ entries: Schema.Array(RunLogEntry) })
/** The last frame of a live stream: nothing follows. */
export const DoneFrame = Schema.Struct({ done: Schema.Literal(true) })
/** Over WebSocket, the last one of a server that stops: a later connection goes on from here. */
const Cut = Schema.Struct({ resumeAfter: Schema.Int })

/** One frame of the live events of a Run, as the data of a server-sent event. */
export const RunEventFrame = Schema.Union([Events, DoneFrame]).annotate({ identifier: "RunEventFrame" })

/** One frame of the live log of a Run, as the data of a server-sent event. */
export const RunLogFrame = Schema.Union([Entries, DoneFrame]).annotate({ identifier: "RunLogFrame" })

/** The same as a WebSocket message. */
export const RunEventMessage = Schema.Union([Events, DoneFrame, Cut]).annotate({ identifier: "RunEventMessage" })

export const RunLogMessage = Schema.Union([Entries, DoneFrame, Cut]).annotate({ identifier: "RunLogMessage" })
