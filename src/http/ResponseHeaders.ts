import { HttpServerResponse } from "effect/http"

const tokenRoutes = "/api/v1/account/tokens"

// Responses other than pages may not load or embed anything, however a browser interprets them.
const inertPolicy = "default-src 'none'; frame-ancestors 'none'"
const noSniffing = { "x-content-type-options": "nosniff" }
const referrerPolicy = "no-referrer"

const requestIdHeader = "x-request-id"

/** Keeps browsers on https once they have used it. It does not cover sibling hosts, which are not ours. */
const transportSecurity = (baseUrl: string): Readonly<Record<string, string>> =>
  baseUrl.startsWith("https:") ? { "strict-transport-security": "max-age=31536000" } : {}

/**
 * Headers sent with every response. Responses are not cached unless their headers allow it, and API responses never are; the
 * token routes also forbid it to HTTP/1.0 caches, for every status.
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
