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
export const commonHeaders = (baseUrl: string) => {
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
