import { Cause, Effect, Schedule, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { Draining } from "./Draining.ts"
import { doneText, type RunFrames } from "./RunFrames.ts"

// Interval between heartbeats, shorter than the idle timeouts of common proxies.
const heartbeatEvery = "10 seconds"

const encoder = new TextEncoder()

const message = (id: number, data: string) => encoder.encode(`id: ${id}\ndata: ${data}\n\n`)

/**
 * Serves a subscription as server-sent events. Each frame is one message. Clients can resume the stream with the id of the
 * message in `Last-Event-ID`. If a stream ends without `{"done":true}`, either the server stopped or the authority was lost;
 * the client may then resume the stream.
 */
export const serverSentEvents = Effect.fn("serverSentEvents")(function* (subscription: RunFrames) {
  const draining = yield* Draining
  let last = subscription.after
  const frames = subscription.frames.pipe(
    Stream.map((frame) => {
      last = frame.last
      return message(frame.last, frame.text)
    }),
    Stream.concat(Stream.suspend(() => Stream.succeed(message(last, doneText)))),
    Stream.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Stream.empty
        : Stream.fromEffectDrain(Effect.logDebug("A live stream ended", cause))
    )
  )
  const heartbeats = Stream.fromSchedule(Schedule.spaced(heartbeatEvery)).pipe(
    Stream.map(() => encoder.encode(": \n\n"))
  )
  return HttpServerResponse.stream(
    Stream.merge(frames, heartbeats, { haltStrategy: "left" }).pipe(Stream.interruptWhen(draining.await)),
    { contentType: "text/event-stream", headers: { "cache-control": "no-store", "x-accel-buffering": "no" } }
  )
})
