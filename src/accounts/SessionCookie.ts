import { Duration, Effect, Redacted, Result } from "effect"
import { type Headers, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { presentedCredential } from "../http/authorization/Credentials.ts"
import { isSameOrigin } from "../http/authorization/CrossSite.ts"
import { HttpSettings, sessionCookieName } from "../http/HttpSettings.ts"

// The server ends a session 30 days after its last use; the cookie only has to last longer than that, and browsers keep
// none beyond 400 days.
const cookieLifetime = Duration.days(400)

const attributes = (baseUrl: string) =>
  ({ path: "/", httpOnly: true, sameSite: "lax", secure: baseUrl.startsWith("https:") }) as const

/** Puts the session's secret into the browser's cookie. */
export const withSession = Effect.fnUntraced(function* (
  response: HttpServerResponse.HttpServerResponse,
  secret: Redacted.Redacted
) {
  const { baseUrl } = yield* HttpSettings
  return HttpServerResponse.setCookieUnsafe(response, sessionCookieName(baseUrl), Redacted.value(secret), {
    ...attributes(baseUrl),
    maxAge: cookieLifetime
  })
})

export const withoutSession = Effect.fnUntraced(function* (response: HttpServerResponse.HttpServerResponse) {
  const { baseUrl } = yield* HttpSettings
  return HttpServerResponse.expireCookieUnsafe(response, sessionCookieName(baseUrl), attributes(baseUrl))
})

/** The session that the request carries, when it carries exactly one and nothing else. */
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

/** Refuses what a page of another site sent. Clients that are no browsers say nothing of a site, and may pass. */
export const refuseCrossSite = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const { baseUrl } = yield* HttpSettings
  if (comesFromABrowser(headers) && !isSameOrigin(headers, new URL(baseUrl).origin)) return yield* crossSite()
})

/** The same for a request that acts with a cookie: there, silence is refused too. */
export const requireSameOrigin = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const { baseUrl } = yield* HttpSettings
  if (!isSameOrigin(headers, new URL(baseUrl).origin)) return yield* crossSite()
})
