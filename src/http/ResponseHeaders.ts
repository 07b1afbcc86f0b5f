import { HttpServerResponse } from "effect/http"

const tokenRoutes = "/api/v1/account/tokens"

// Answers that are no pages may load and embed nothing, whatever a browser takes them for.
const inertPolicy = "default-src 'none'; frame-ancestors 'none'"
const referrerPolicy = "no-referrer"

const identifying = (requestId: string) => ({ "x-request-id": requestId, "x-content-type-options": "nosniff" })

/**
 * Headers of every response. What does not say otherwise is never stored, answers of the API in no case; those of the token
 * routes say so to old caches too, whatever their status.
 */
export const withCommonHeaders = (
  response: HttpServerResponse.HttpServerResponse,
  url: string,
  requestId: string
): HttpServerResponse.HttpServerResponse => {
  const headers = response.headers
  const isApi = url.startsWith("/api/")
  return HttpServerResponse.setHeaders(response, {
    ...identifying(requestId),
    ...(headers["referrer-policy"] === undefined ? { "referrer-policy": referrerPolicy } : {}),
    ...(headers["content-security-policy"] === undefined ? { "content-security-policy": inertPolicy } : {}),
    ...(isApi || headers["cache-control"] === undefined ? { "cache-control": "no-store" } : {}),
    ...(url.startsWith(tokenRoutes) ? { pragma: "no-cache" } : {})
  })
}

/** All headers of a record that the API answers with. */
export const recordHeaders = (requestId: string): Record<string, string> => ({
  "content-type": "application/json",
  ...identifying(requestId),
  "referrer-policy": referrerPolicy,
  "content-security-policy": inertPolicy,
  "cache-control": "no-store"
})
