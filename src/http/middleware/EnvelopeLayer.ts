import { Effect, Layer } from "effect"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { failureResponse } from "../ErrorResponse.ts"
import { currentRequestId } from "../Exchange.ts"

/** Turns every failure of an API route into the error envelope, before the API's own encoders see it. */
export const envelopeLayer: Layer.Layer<Envelope> = Layer.succeed(Envelope, (httpEffect) =>
  Effect.catchCause(httpEffect, (cause) =>
    Effect.flatMap(currentRequestId, (requestId) => failureResponse(cause, requestId))
  )
)
