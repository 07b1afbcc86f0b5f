import { Schema } from "effect"
import { RunEvent } from "./RunEvent.ts"
import { DoneFrame, EntriesFrame } from "./RunFrame.ts"

const EventsFrame = Schema.Struct({ events: Schema.Array(RunEvent) })
/** Over WebSocket, the last message from a server that is shutting down: a later connection continues from here. */
const Cut = Schema.Struct({ resumeAfter: Schema.Int })

/**
 * One frame of a Run's live events, as the data of a server-sent event. Clients read events more leniently, with `WireEvent`: a
 * later server may send kinds that they do not know.
 */
export const RunEventFrame = Schema.Union([EventsFrame, DoneFrame]).annotate({ identifier: "RunEventFrame" })

/** The same frame as a WebSocket message. */
export const RunEventMessage = Schema.Union([EventsFrame, DoneFrame, Cut]).annotate({ identifier: "RunEventMessage" })

/** One frame of the live log, as a WebSocket message. */
export const RunLogMessage = Schema.Union([EntriesFrame, DoneFrame, Cut]).annotate({ identifier: "RunLogMessage" })
