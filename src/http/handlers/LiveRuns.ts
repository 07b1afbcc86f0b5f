import { Effect, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Caller } from "../../../schema/api/Middleware.ts"
import { ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { Draining } from "../../streams/Draining.ts"
import { subscribe } from "../../streams/LiveSubscription.ts"
import type { RunSequence } from "../../streams/RunFrames.ts"
import { serverSentEvents } from "../../streams/ServerSentEvents.ts"
import { WebSockets } from "../../streams/WebSockets.ts"
import { Admitted } from "../authorization/Admission.ts"
import { isSameOrigin } from "../authorization/CrossSite.ts"
import { Exchange } from "../Exchange.ts"
import { HttpSettings } from "../HttpSettings.ts"

const wantsWebSocket = (request: HttpServerRequest.HttpServerRequest) =>
  request.headers["upgrade"]?.toLowerCase() === "websocket"

const wantsEvents = (request: HttpServerRequest.HttpServerRequest) =>
  request.headers["accept"]?.split(",").some((type) => type.trim().startsWith("text/event-stream")) === true

const sequenceNumber = /^(?:0|[1-9][0-9]{0,14})$/

/**
 * The position at which an event source resumes: the id of the last message received takes precedence over the `after` in the
 * URL.
 */
const resumePoint = Effect.fn("resumePoint")(function* (
  request: HttpServerRequest.HttpServerRequest,
  after: number | undefined
) {
  const lastEventId = request.headers["last-event-id"]
  if (lastEventId === undefined || lastEventId === "") return after ?? 0
  return sequenceNumber.test(lastEventId)
    ? Number(lastEventId)
    : yield* invalidRequest("The Last-Event-ID header is not the id of a message of this stream.")
})

const draining = new ApiError({
  code: "rate_limited",
  message: "The server is restarting. Connect again in a moment.",
  retryAfter: 2
})

const isOwnPage = (request: HttpServerRequest.HttpServerRequest, baseUrl: string) => {
  const origin = new URL(baseUrl).origin
  // Browsers always send Origin with a WebSocket; a cookie without it does not come from one of our pages.
  return request.headers["origin"] === origin && isSameOrigin(request.headers, origin)
}

const crossOrigin = new ApiError({
  code: "permission_denied",
  message: "Live streams with a session cookie are for the dashboard's own origin. Other clients send a bearer token."
})

/**
 * The live response to a read of a sequence, if the request wants one: a WebSocket or server-sent events that replay
 * from `after` and then follow. `none` for an ordinary read.
 */
export const liveAnswer = Effect.fn("liveAnswer")(function* (
  request: HttpServerRequest.HttpServerRequest,
  runId: RunId,
  sequence: RunSequence,
  after: number | undefined
) {
  const webSocket = wantsWebSocket(request)
  if (!webSocket && !wantsEvents(request)) return Option.none<HttpServerResponse.HttpServerResponse>()
  const admitted = Option.getOrThrow(yield* Admitted)
  const { baseUrl } = yield* HttpSettings
  const caller = yield* Caller
  if (webSocket && admitted.ambient && !isOwnPage(request, baseUrl)) return yield* crossOrigin
  if ((yield* Draining).begun()) return yield* draining
  const subscription = yield* subscribe({
    runId,
    sequence,
    after: webSocket ? (after ?? 0) : yield* resumePoint(request, after),
    subject: caller.subject,
    requestId: caller.requestId,
    recheck: admitted.recheck
  })
  if (!webSocket) return Option.some(yield* serverSentEvents(subscription))
  yield* (yield* WebSockets).admit(caller.subject)
  const { upgrade } = yield* Exchange
  if (upgrade === undefined || !upgrade(subscription)) {
    return yield* invalidRequest("The connection cannot be upgraded to a WebSocket. Use `Accept: text/event-stream`.")
  }
  // The listener has already responded with 101; this response is discarded.
  return Option.some(HttpServerResponse.empty({ status: 204 }))
})
