import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { invalidRequest } from "../../schema/errors/ApiError.ts"

const sequenceNumber = /^(?:0|[1-9][0-9]{0,14})$/

/**
 * Returns the position from which an event source resumes. The id of the last received message takes precedence over `after` in
 * the URL.
 */
export const resumePoint = Effect.fn("resumePoint")(function* (
  request: HttpServerRequest.HttpServerRequest,
  after: number | undefined
) {
  const lastEventId = request.headers["last-event-id"]
  if (lastEventId === undefined || lastEventId === "") return after ?? 0
  return sequenceNumber.test(lastEventId)
    ? Number(lastEventId)
    : yield* invalidRequest("The Last-Event-ID header is not the id of a message of this stream.")
})
