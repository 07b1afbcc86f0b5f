import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { BrowserLanding } from "../../../schema/api/BrowserLanding.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { errorResponse, failureResponse } from "../../http-kit/ErrorResponse.ts"
import { currentRequestId } from "../../http-kit/Exchange.ts"
import { landingPage, takesHtml } from "../LandingPage.ts"

/** Formats a refusal as a page on routes that people reach through a redirect. */
const toBrowsers = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
  takesHtml(headers["accept"]) ? landingPage(headers["accept-language"]) : errorResponse
)

/** Converts every failure of an API route to the error envelope, before the failure reaches the encoders of the API. */
export const envelopeLayer: Layer.Layer<Envelope> = Layer.succeed(Envelope, (httpEffect, { endpoint }) => {
  const respond = Context.get(endpoint.annotations, BrowserLanding) ? toBrowsers : Effect.succeed(errorResponse)
  return Effect.catchCause(httpEffect, (cause) =>
    Effect.gen(function* () {
      return yield* failureResponse(cause, yield* currentRequestId, yield* respond)
    })
  )
})
