import { Headers, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { sessionHeader } from "../../schema/api/SessionHeader.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The endpoints that pages from other origins may call: the API, and what a client reads to discover it. */
const sharedPaths = /^\/(?:api\/v1\/|\.well-known\/svc(?:\?|$)|openapi\.json(?:\?|$))/

const exposed = "allow, content-disposition, date, etag, retry-after, www-authenticate, x-request-id"

/** The headers that the API reads, and those of a trace: the product's own client sends `traceparent` and `b3`. */
const sent = [
  "authorization",
  "b3",
  "baggage",
  "content-type",
  "idempotency-key",
  "if-none-match",
  "last-event-id",
  "traceparent",
  "tracestate"
].join(", ")

const preflightHeaders = {
  "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers": sent,
  "access-control-max-age": "600"
}

/** The server's responses to pages from the origins that its operator has listed. */
export interface CrossOrigin {
  /** The request; if it comes from such a page, anything that the browser adds automatically is removed. */
  readonly admitted: (request: Request) => Request
  /** The response, if the request is a preflight. */
  readonly preflight: (request: Request) => Response | undefined
  /** The response, made readable for the requesting page. */
  readonly readable: (request: Request, response: Response) => Response
}

const closed: CrossOrigin = {
  admitted: (request) => request,
  preflight: () => undefined,
  readable: (_, response) => response
}

/** The routes that pages from the listed origins may call, and the responses that they may read. */
const sharing = (origins: ReadonlyArray<string>) => {
  const named: ReadonlySet<string> = new Set(origins)
  return {
    from: (origin: string | null | undefined, path: string) =>
      typeof origin === "string" && named.has(origin) && sharedPaths.test(path) ? origin : undefined,
    headersFor: (origin: string | undefined, vary: string | undefined) => ({
      // Also set for origins that may not read it: a cache must not serve one origin's response to another.
      vary: vary === undefined ? "origin" : `${vary}, origin`,
      ...(origin === undefined
        ? {}
        : { "access-control-allow-origin": origin, "access-control-expose-headers": exposed })
    })
  }
}

/**
 * CORS for named origins, compared character for character. Credentials are never allowed: pages from these origins send a bearer
 * token, and a cookie or session on their requests is ignored.
 */
export const crossOrigin = (origins: ReadonlyArray<string>): CrossOrigin => {
  if (origins.length === 0) return closed
  const { from, headersFor } = sharing(origins)
  const page = ({ headers, url }: Request) => from(headers["origin"], url)
  return {
    admitted: (request) =>
      page(request) === undefined
        ? request
        : request.modify({ headers: Headers.removeMany(request.headers, ["cookie", sessionHeader]) }),
    preflight: (request) => {
      const asks = request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined
      return asks && page(request) !== undefined
        ? HttpServerResponse.empty({ status: 204, headers: preflightHeaders })
        : undefined
    },
    readable: (request, response) =>
      sharedPaths.test(request.url)
        ? HttpServerResponse.setHeaders(response, headersFor(page(request), response.headers["vary"]))
        : response
  }
}

/**
 * Does the same for `refusal`, the response sent without the application while it is starting or stopping, so that a page from a
 * listed origin can retry in time. A preflight request also gets a response, as otherwise the browser would not send the actual
 * request.
 */
export const crossOriginRefusal = (origins: ReadonlyArray<string>) => {
  const { from, headersFor } = sharing(origins)
  return (request: globalThis.Request, refusal: globalThis.Response): globalThis.Response => {
    const { pathname, search } = new URL(request.url)
    const path = `${pathname}${search}`
    if (origins.length === 0 || !sharedPaths.test(path)) return refusal
    const origin = from(request.headers.get("origin"), path)
    const asks = request.method === "OPTIONS" && request.headers.has("access-control-request-method")
    const answer =
      asks && origin !== undefined ? new globalThis.Response(null, { status: 204, headers: preflightHeaders }) : refusal
    for (const [name, value] of Object.entries(headersFor(origin, undefined))) answer.headers.set(name, value)
    return answer
  }
}
