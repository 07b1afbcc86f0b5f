import { Clock, Context, Effect, Option, type Redacted } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { ReadSnapshot } from "../../actors/database/ReadSnapshot.ts"
import { countRequest } from "../observability/HttpMetrics.ts"
import { failureResponse } from "./ErrorResponse.ts"
import { Exchange, type ExchangeShape, newRequestId } from "./Exchange.ts"
import { withRenewedSession } from "../accounts/SessionCookie.ts"
import { HttpSettings } from "./HttpSettings.ts"
import { commonHeaders } from "./ResponseHeaders.ts"
import { isRouteNotFound, unknownRouteResponse } from "./UnknownRoutes.ts"

type HttpEffect<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

const guardedBy = Effect.gen(function* () {
  const { baseUrl } = yield* HttpSettings
  const snapshot = yield* ReadSnapshot
  const withCommonHeaders = commonHeaders(baseUrl)

  return <E, R>(httpEffect: HttpEffect<E, R>): HttpEffect<E, R | HttpServerRequest.HttpServerRequest | HttpSettings> =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const exchange = yield* Exchange
      const clock = yield* Clock.Clock
      let renewed: Redacted.Redacted | undefined
      const started = clock.currentTimeMillisUnsafe()
      const requestId = exchange.requestId === "" ? yield* newRequestId : exchange.requestId
      const { bodyReceived, remoteAddress, upgrade } = exchange
      const own: ExchangeShape = {
        requestId,
        remoteAddress,
        bodyReceived,
        upgrade,
        sessionRenewed: (secret) => {
          renewed = secret
        }
      }
      const addressed =
        remoteAddress === undefined ? request : request.modify({ remoteAddress: Option.some(remoteAddress) })
      // The request sees everything that was committed before it arrived.
      snapshot.renew()
      const response = yield* httpEffect.pipe(
        Effect.catchCause((cause) =>
          isRouteNotFound(cause)
            ? Effect.succeed(unknownRouteResponse(request.url, requestId))
            : failureResponse(cause, requestId)
        ),
        Effect.updateContext((context: Context.Context<R>) =>
          Context.add(Context.add(context, Exchange, own), HttpServerRequest.HttpServerRequest, addressed)
        )
      )
      yield* countRequest(request.method, response.status, clock.currentTimeMillisUnsafe() - started)
      const followed = renewed === undefined ? response : yield* withRenewedSession(response, renewed)
      return withCommonHeaders(followed, request.url, requestId)
    })
})

/**
 * What applies to every route, inside the API or not: a request id, the common headers, 404 and 405 in the envelope,
 * and an envelope for every failure.
 */
export const perimeter = HttpRouter.use((router) =>
  Effect.flatMap(guardedBy, (guarded) => router.addGlobalMiddleware(guarded))
)
