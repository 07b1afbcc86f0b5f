import { Effect, Redacted, Result } from "effect"
import { Cookies, type Headers, HttpServerRequest, HttpServerResponse } from "effect/http"
import { sessionLifetime } from "../../actors/access/account/Sessions.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { presentedCredential } from "../http-kit/Credentials.ts"
import { isSameOrigin } from "../http-kit/CrossSite.ts"
import { HttpSettings, sessionCookieName } from "../http-kit/HttpSettings.ts"

const attributes = (baseUrl: string) =>
  ({ path: "/", httpOnly: true, sameSite: "lax", secure: baseUrl.startsWith("https:") }) as const

/** Sets the browser's cookie to the session's secret. The cookie expires with the session. */
export const withSession = Effect.fnUntraced(function* (
  response: HttpServerResponse.HttpServerResponse,
  secret: Redacted.Redacted
) {
  const { baseUrl } = yield* HttpSettings
  return HttpServerResponse.setCookieUnsafe(response, sessionCookieName(baseUrl), Redacted.value(secret), {
    ...attributes(baseUrl),
    maxAge: sessionLifetime
  })
})

/** Like `withSession`, for an extended session. Does nothing if the response already sets the cookie. */
export const withRenewedSession = Effect.fnUntraced(function* (
  response: HttpServerResponse.HttpServerResponse,
  secret: Redacted.Redacted
) {
  const { baseUrl } = yield* HttpSettings
  return Cookies.get(response.cookies, sessionCookieName(baseUrl))._tag === "None"
    ? yield* withSession(response, secret)
    : response
})

export const withoutSession = Effect.fnUntraced(function* (response: HttpServerResponse.HttpServerResponse) {
  const { baseUrl } = yield* HttpSettings
  return HttpServerResponse.expireCookieUnsafe(response, sessionCookieName(baseUrl), attributes(baseUrl))
})

/** Returns the request's session if the session is the request's only credential. */
export const presentedSession = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const { baseUrl } = yield* HttpSettings
  const presented = presentedCredential(headers, sessionCookieName(baseUrl))
  return Result.isSuccess(presented) && presented.success.kind === "session" ? presented.success : undefined
})

const crossSite = () =>
  new ApiError({ code: "csrf_failed", message: "The request comes from another site. Use the dashboard's own pages." })

const comesFromABrowser = (headers: Headers.Headers) =>
  headers["origin"] !== undefined || headers["sec-fetch-site"] !== undefined

/**
 * Refuses requests from pages on other sites. Accepts requests without an origin or site header, because only browsers send
 * these headers.
 */
export const refuseCrossSite = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const { baseUrl } = yield* HttpSettings
  if (comesFromABrowser(headers) && !isSameOrigin(headers, new URL(baseUrl).origin)) return yield* crossSite()
})

/**
 * Like `refuseCrossSite`, for a request authenticated by a cookie. Also refuses a request that lacks the headers that
 * `refuseCrossSite` checks.
 */
export const requireSameOrigin = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const { baseUrl } = yield* HttpSettings
  if (!isSameOrigin(headers, new URL(baseUrl).origin)) return yield* crossSite()
})
