import { Cause, Effect, Queue, Redacted, Schema, Stream } from "effect"
import { WebSocket } from "ws"
import { RunEvent, RunLogEntry } from "../../../schema/events/RunEvent.ts"
import { DemoFailed } from "./DemoFailed.ts"

/** The server's address and the credential for the server. */
export interface DemoServer {
  readonly url: string
  readonly token: Redacted.Redacted
}

const EventFrame = Schema.fromJsonString(
  Schema.Union([Schema.Struct({ events: Schema.Array(RunEvent) }), Schema.Struct({ done: Schema.Literal(true) })])
)
const LogFrame = Schema.fromJsonString(
  Schema.Union([Schema.Struct({ entries: Schema.Array(RunLogEntry) }), Schema.Struct({ done: Schema.Literal(true) })])
)

const failure = (message: string) => Cause.fail(new DemoFailed({ message }))

/** Streams the text frames of a WebSocket until the server closes it with code 1000. */
const frames = (server: DemoServer, path: string) =>
  Stream.callback<string, DemoFailed>(
    (queue) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const socket = new WebSocket(`${server.url.replace(/^http/, "ws")}${path}`, {
            headers: { authorization: `Bearer ${Redacted.value(server.token)}` }
          })
          socket.on("message", (data) => Queue.offerUnsafe(queue, data.toString()))
          socket.on("error", (error) =>
            Queue.failCauseUnsafe(queue, failure(`The WebSocket ${path} failed: ${error.message}`))
          )
          socket.on("close", (code, reason) =>
            code === 1000
              ? Queue.endUnsafe(queue)
              : Queue.failCauseUnsafe(
                  queue,
                  failure(`The WebSocket ${path} was closed with ${code} ${reason.toString()}`)
                )
          )
          return socket
        }),
        (socket) => Effect.sync(() => socket.close())
      ),
    // A bounded buffer needs no further flow control, because the server sends only as much as the socket accepts.
    { bufferSize: 4096 }
  )

/** Streams the events of a Run from the first event until the Run is final. */
export const runEvents = (server: DemoServer, runId: string) =>
  frames(server, `/api/v1/runs/${runId}/events`).pipe(
    Stream.mapEffect((text) => Schema.decodeEffect(EventFrame)(text)),
    Stream.flatMap((frame) => Stream.fromIterable("events" in frame ? frame.events : []))
  )

/** Streams the log lines of a Run from the first line until the Run stops executing. */
export const runLogs = (server: DemoServer, runId: string) =>
  frames(server, `/api/v1/runs/${runId}/logs`).pipe(
    Stream.mapEffect((text) => Schema.decodeEffect(LogFrame)(text)),
    Stream.flatMap((frame) => Stream.fromIterable("entries" in frame ? frame.entries : []))
  )
