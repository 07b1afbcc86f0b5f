import { HttpServerResponse } from "effect/http"

const tokenRoutes = "/api/v1/account/tokens"

// Answers that are no pages may load and embed nothing, whatever a browser takes them for.
const inertPolicy = "default-src 'none'; frame-ancestors 'none'"

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
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    ...(headers["referrer-policy"] === undefined ? { "referrer-policy": "no-referrer" } : {}),
    ...(headers["content-security-policy"] === undefined ? { "content-security-policy": inertPolicy } : {}),
    ...(isApi || headers["cache-control"] === undefined ? { "cache-control": "no-store" } : {}),
    ...(url.startsWith(tokenRoutes) ? { pragma: "no-cache" } : {})
  })
}
