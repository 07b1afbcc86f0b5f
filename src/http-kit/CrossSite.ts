import type { Headers } from "effect/http"
import { ApiError } from "../../schema/errors/ApiError.ts"

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD"])

const refused = new ApiError({
  code: "csrf_failed",
  message:
    "A request that changes something with a session cookie has to come from the dashboard's own origin. Other clients send `Authorization: Bearer <token>`."
})

/**
 * Returns true if a request's headers show that the request came from a page on this origin. Used for requests with a
 * cookie.
 */
export const isSameOrigin = (headers: Headers.Headers, origin: string): boolean => {
  const site = headers["sec-fetch-site"]
  if (site !== undefined && site !== "same-origin") return false
  const sent = headers["origin"]
  if (sent !== undefined) return sent === origin
  return site === "same-origin"
}

/**
 * Returns a refusal if a request could change something and may come from another site, and `undefined` otherwise. Used for
 * requests with a cookie.
 */
export const crossSiteRefusal = (method: string, headers: Headers.Headers, origin: string): ApiError | undefined =>
  safeMethods.has(method) || isSameOrigin(headers, origin) ? undefined : refused
