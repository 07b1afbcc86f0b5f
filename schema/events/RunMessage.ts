import { Schema } from "effect"
import { RunEvent } from "./RunEvent.ts"
import { DoneFrame, EntriesFrame } from "./RunFrame.ts"

const EventsFrame = Schema.Struct({ events: Schema.Array(RunEvent) })
/**
 * The last WebSocket message from a server that is shutting down. The client reconnects and continues after the entry whose
 * number the message contains.
 */
const Cut = Schema.Struct({ resumeAfter: Schema.Int })

/**
 * A frame of a Run's live event stream, as the data of a server-sent event. Clients decode events with the more lenient
 * `WireEvent`, because a later server may send kinds that they do not know.
 */
export const RunEventFrame = Schema.Union([EventsFrame, DoneFrame]).annotate({ identifier: "RunEventFrame" })

/** A frame of a Run's live event stream, as a WebSocket message. */
export const RunEventMessage = Schema.Union([EventsFrame, DoneFrame, Cut]).annotate({ identifier: "RunEventMessage" })

/** A frame of the live log, as a WebSocket message. */
export const RunLogMessage = Schema.Union([EntriesFrame, DoneFrame, Cut]).annotate({ identifier: "RunLogMessage" })
