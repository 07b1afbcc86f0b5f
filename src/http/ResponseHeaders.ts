import { HttpServerResponse } from "effect/http"

const tokenRoutes = "/api/v1/account/tokens"

// Answers that are no pages may load and embed nothing, whatever a browser takes them for.
const inertPolicy = "default-src 'none'; frame-ancestors 'none'"
const noSniffing = { "x-content-type-options": "nosniff" }
const referrerPolicy = "no-referrer"

const requestIdHeader = "x-request-id"

/** What keeps browsers on https once they came that way. Sibling hosts are not ours to decide for. */
const transportSecurity = (baseUrl: string): Readonly<Record<string, string>> =>
  baseUrl.startsWith("https:") ? { "strict-transport-security": "max-age=31536000" } : {}

/**
 * Headers of every response. What does not say otherwise is never stored, answers of the API in no case; those of the token
 * routes say so to old caches too, whatever their status.
 */
export const withCommonHeaders = (
  response: HttpServerResponse.HttpServerResponse,
  baseUrl: string,
  url: string,
  requestId: string
): HttpServerResponse.HttpServerResponse => {
  const headers = response.headers
  const isApi = url.startsWith("/api/")
  return HttpServerResponse.setHeaders(response, {
    [requestIdHeader]: requestId,
    ...transportSecurity(baseUrl),
    ...noSniffing,
    ...(headers["referrer-policy"] === undefined ? { "referrer-policy": referrerPolicy } : {}),
    ...(headers["content-security-policy"] === undefined ? { "content-security-policy": inertPolicy } : {}),
    ...(isApi || headers["cache-control"] === undefined ? { "cache-control": "no-store" } : {}),
    ...(url.startsWith(tokenRoutes) ? { pragma: "no-cache" } : {})
  })
}

/** Makes responses that carry a record as the API answers it, with all headers of such an answer. */
export const recordResponses = (baseUrl: string) => {
  // Copied for each answer, which costs half of what reading them anew does.
  const recordHeaders = new Headers({
    "content-type": "application/json",
    ...transportSecurity(baseUrl),
    ...noSniffing,
    "referrer-policy": referrerPolicy,
    "content-security-policy": inertPolicy,
    "cache-control": "no-store"
  })
  return (body: unknown, requestId: string): Response => {
    const response = new Response(JSON.stringify(body), { headers: recordHeaders })
    response.headers.set(requestIdHeader, requestId)
    return response
  }
}
