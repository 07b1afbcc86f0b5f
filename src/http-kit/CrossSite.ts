import type { Headers } from "effect/http"
import { ApiError } from "../../schema/errors/ApiError.ts"

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD"])

const refused = new ApiError({
  code: "csrf_failed",
  message:
    "A request that changes something with a session cookie has to come from the dashboard's own origin. Other clients send `Authorization: Bearer <token>`."
})

/** Returns true if the headers of a request with a cookie show that the request came from a page of this origin. */
export const isSameOrigin = (headers: Headers.Headers, origin: string): boolean => {
  const site = headers["sec-fetch-site"]
  if (site !== undefined && site !== "same-origin") return false
  const sent = headers["origin"]
  if (sent !== undefined) return sent === origin
  return site === "same-origin"
}

/** Returns a refusal if a mutation with a cookie may come from another site, and `undefined` otherwise. */
export const crossSiteRefusal = (method: string, headers: Headers.Headers, origin: string): ApiError | undefined =>
  safeMethods.has(method) || isSameOrigin(headers, origin) ? undefined : refused
