import { Duration, Effect, Random, Schedule } from "effect"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { crossOriginRefusal } from "./CrossOrigin.ts"
import { makeRequestId } from "../http-kit/Exchange.ts"
import type { WebHandler } from "./HttpApplication.ts"
import { plainErrorResponse } from "./PlainErrorResponse.ts"

const drainDeadline = Duration.seconds(20)

const unavailable = new ApiError({
  code: "verification_unavailable",
  message: "The service is starting or stopping. Try again in a moment."
})

/** A gate in front of a handler that may be absent. Before the gate opens and after it closes, requests get a 503. */
export interface RequestGate {
  readonly handle: WebHandler
  readonly open: (handler: WebHandler) => Effect.Effect<void>
  readonly close: Effect.Effect<void>
  /** Waits up to 20 seconds for the requests in progress. */
  readonly settled: Effect.Effect<void>
}

export const makeRequestGate = Effect.fnUntraced(function* (corsOrigins: ReadonlyArray<string>) {
  const readable = crossOriginRefusal(corsOrigins)
  const random = yield* Random.Random
  let mounted: WebHandler | undefined
  let inProgress = 0
  const put = (handler: WebHandler | undefined) =>
    Effect.sync(() => {
      mounted = handler
    })
  const gate: RequestGate = {
    handle: (request, context) => {
      if (mounted === undefined) {
        return Promise.resolve(readable(request, plainErrorResponse(unavailable, makeRequestId(random))))
      }
      inProgress++
      return mounted(request, context).finally(() => {
        inProgress--
      })
    },
    open: put,
    close: put(undefined),
    settled: Effect.sync(() => inProgress).pipe(
      Effect.repeat({ until: (left) => left === 0, schedule: Schedule.spaced("10 millis") }),
      Effect.timeoutOption(drainDeadline),
      Effect.asVoid
    )
  }
  return gate
})
