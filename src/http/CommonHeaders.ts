import { Clock, Context, Effect, Option, Random, type Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Readmission } from "../../actors/base/Readmission.ts"
import { ReadSnapshot } from "../../actors/base/database/ReadSnapshot.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { countRequest } from "./HttpMetrics.ts"
import { crossOrigin } from "./CrossOrigin.ts"
import { failureResponse } from "../http-kit/ErrorResponse.ts"
import { Exchange, type ExchangeShape, makeRequestId, type Turn } from "../http-kit/Exchange.ts"
import { withRenewedSession } from "../accounts/SessionCookie.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { hasEmptySegment, isRouteNotFound, unknownRouteResponse } from "./UnknownRoutes.ts"

const tokenRoutes = "/api/v1/account/tokens"

// Content security policy for all responses except pages. A response must not load or embed anything, even if a browser
// renders it.
const inertPolicy = "default-src 'none'; frame-ancestors 'none'"
const noSniffing = { "x-content-type-options": "nosniff" }
const referrerPolicy = "no-referrer"

const requestIdHeader = "x-request-id"

/** Makes browsers keep using HTTPS after the first HTTPS response. Excludes subdomains, which may belong to somebody else. */
const transportSecurity = (baseUrl: string): Readonly<Record<string, string>> =>
  baseUrl.startsWith("https:") ? { "strict-transport-security": "max-age=31536000" } : {}

/**
 * Returns the headers of every response. The headers forbid caching unless the response itself allows it, which API
 * responses never do. For token routes, they also forbid caching by HTTP/1.0 caches, regardless of the status.
 */
const headersOf = (baseUrl: string) => {
  const always = { ...transportSecurity(baseUrl), ...noSniffing }
  return (
    response: HttpServerResponse.HttpServerResponse,
    url: string,
    requestId: string
  ): HttpServerResponse.HttpServerResponse => {
    const given = response.headers
    const added: Record<string, string> = { ...always, [requestIdHeader]: requestId }
    if (given["referrer-policy"] === undefined) added["referrer-policy"] = referrerPolicy
    if (given["content-security-policy"] === undefined) added["content-security-policy"] = inertPolicy
    if (given["cache-control"] === undefined || url.startsWith("/api/")) added["cache-control"] = "no-store"
    if (url.startsWith(tokenRoutes)) added["pragma"] = "no-cache"
    return HttpServerResponse.setHeaders(response, added)
  }
}

type HttpEffect<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

const guardedBy = Effect.gen(function* () {
  const { baseUrl, corsOrigins = [] } = yield* HttpSettings
  const shared = crossOrigin(corsOrigins)
  const snapshot = yield* ReadSnapshot
  const withCommonHeaders = headersOf(baseUrl)

  /** Refreshes the state that reads use, so that the request sees all data that was committed before the request arrived. */
  const renewFor = (turn: Turn | undefined) => {
    if (turn === undefined) return snapshot.renew()
    if (turn.isRenewed) return
    turn.isRenewed = true
    snapshot.renewForTurn()
  }

  return <E, R>(httpEffect: HttpEffect<E, R>): HttpEffect<E, R | HttpServerRequest.HttpServerRequest | HttpSettings> =>
    Effect.contextWith((context: Context.Context<R | HttpServerRequest.HttpServerRequest>) => {
      const request = shared.admitted(Context.get(context, HttpServerRequest.HttpServerRequest))
      const exchange = Context.get(context, Exchange)
      const clock = Context.get(context, Clock.Clock)
      let renewed: Redacted.Redacted | undefined
      let admission: Effect.Effect<void, ApiError> = Effect.void
      const started = clock.currentTimeMillisUnsafe()
      const requestId =
        exchange.requestId === "" ? makeRequestId(Context.get(context, Random.Random)) : exchange.requestId
      const { bodyReceived, remoteAddress, upgrade } = exchange
      const own: ExchangeShape = {
        requestId,
        remoteAddress,
        bodyReceived,
        upgrade,
        sessionRenewed: (secret) => {
          renewed = secret
        },
        admittedBy: (check) => {
          admission = check
        }
      }
      const addressed =
        remoteAddress === undefined ? request : request.modify({ remoteAddress: Option.some(remoteAddress) })
      renewFor(exchange.turn)
      const preflight = shared.preflight(request)
      const routed: HttpEffect<E, R> =
        preflight !== undefined
          ? Effect.succeed(preflight)
          : hasEmptySegment(request.url)
            ? Effect.succeed(unknownRouteResponse(request.url, requestId))
            : httpEffect
      const answered = routed.pipe(
        Effect.catchCause((cause) =>
          isRouteNotFound(cause)
            ? Effect.succeed(unknownRouteResponse(request.url, requestId))
            : failureResponse(cause, requestId)
        ),
        Effect.updateContext((services: Context.Context<R>) =>
          Context.add(services, Exchange, own).pipe(
            Context.add(
              Readmission,
              Effect.suspend(() => admission)
            ),
            Context.add(HttpServerRequest.HttpServerRequest, addressed)
          )
        )
      )
      return Effect.flatMap(answered, (response) => {
        countRequest(context, request.method, response.status, clock.currentTimeMillisUnsafe() - started)
        const finished = (own: HttpServerResponse.HttpServerResponse) =>
          shared.readable(request, withCommonHeaders(own, request.url, requestId))
        return renewed === undefined
          ? Effect.succeed(finished(response))
          : Effect.map(withRenewedSession(response, renewed), finished)
      })
    })
})

/**
 * Applies the rules for every route inside and outside the API: a request id, the common headers, 404 and 405 in the envelope,
 * and an envelope for every failure.
 */
export const commonHeaders = HttpRouter.use((router) =>
  Effect.flatMap(guardedBy, (guarded) => router.addGlobalMiddleware(guarded))
)
