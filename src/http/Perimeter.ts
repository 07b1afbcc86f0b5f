import { Clock, Effect, Option, type Redacted } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { countRequest } from "../observability/HttpMetrics.ts"
import { failureResponse } from "./ErrorResponse.ts"
import { Exchange, newRequestId } from "./Exchange.ts"
import { withRenewedSession } from "../accounts/SessionCookie.ts"
import { HttpSettings } from "./HttpSettings.ts"
import { withCommonHeaders } from "./ResponseHeaders.ts"
import { isRouteNotFound, unknownRouteResponse } from "./UnknownRoutes.ts"

const guarded = <E, R>(
  httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest | HttpSettings> =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const exchange = yield* Exchange
    const { baseUrl } = yield* HttpSettings
    let renewed: Redacted.Redacted | undefined
    const started = yield* Clock.currentTimeMillis
    const requestId = exchange.requestId === "" ? yield* newRequestId : exchange.requestId
    const response = yield* httpEffect.pipe(
      Effect.catchCause((cause) =>
        isRouteNotFound(cause)
          ? Effect.succeed(unknownRouteResponse(request.url, requestId))
          : failureResponse(cause, requestId)
      ),
      Effect.provideService(Exchange, {
        ...exchange,
        requestId,
        sessionRenewed: (secret) => {
          renewed = secret
        }
      }),
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        exchange.remoteAddress === undefined
          ? request
          : request.modify({ remoteAddress: Option.some(exchange.remoteAddress) })
      )
    )
    yield* countRequest(request.method, response.status, (yield* Clock.currentTimeMillis) - started)
    const followed = renewed === undefined ? response : yield* withRenewedSession(response, renewed)
    return withCommonHeaders(followed, baseUrl, request.url, requestId)
  })

/**
 * What holds for every route, the API's or not: a request id, the common headers, 404 and 405 in the envelope, and no
 * failure that leaves without one.
 */
export const perimeter = HttpRouter.use((router) => router.addGlobalMiddleware(guarded))
