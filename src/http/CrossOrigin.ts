import { Headers, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { sessionHeader } from "../../schema/api/SessionHeader.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/**
 * The endpoints that pages from other origins may call: the API, and the documents with which a client discovers the API.
 */
const sharedPaths = /^\/(?:api\/v1\/|\.well-known\/svc(?:\?|$)|openapi\.json(?:\?|$))/

const exposed = "allow, content-disposition, date, etag, retry-after, www-authenticate, x-request-id"

/** Headers that the API reads, and the trace headers `traceparent` and `b3`, which svc's client sends. */
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

/** Handles requests from pages of the origins that the operator has listed. */
export interface CrossOrigin {
  /** Returns the request. If the request comes from a page of a listed origin, removes the cookie and the session header. */
  readonly admitted: (request: Request) => Request
  /** Returns the response to a preflight request, or `undefined` for other requests. */
  readonly preflight: (request: Request) => Response | undefined
  /** Lets the page read the response. */
  readonly readable: (request: Request, response: Response) => Response
}

const closed: CrossOrigin = {
  admitted: (request) => request,
  preflight: () => undefined,
  readable: (_, response) => response
}

/** The routes that pages from the listed origins may call. */
const sharing = (origins: ReadonlyArray<string>) => {
  const named: ReadonlySet<string> = new Set(origins)
  return {
    from: (origin: string | null | undefined, path: string) =>
      typeof origin === "string" && named.has(origin) && sharedPaths.test(path) ? origin : undefined,
    headersFor: (origin: string | undefined, vary: string | undefined) => ({
      // Set this header even if the origin is not listed, so that a cache never returns the response for one origin to
      // another origin.
      vary: vary === undefined ? "origin" : `${vary}, origin`,
      ...(origin === undefined
        ? {}
        : { "access-control-allow-origin": origin, "access-control-expose-headers": exposed })
    })
  }
}

/**
 * Implements CORS for the listed origins, which are compared character for character. Never allows credentials: pages on
 * these origins send a bearer token, and a cookie or session in their requests is ignored.
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
 * Like `crossOrigin`, but for `refusal`, which is the response while the application is starting or stopping. Lets a page
 * from a listed origin read the refusal and retry. Preflight requests are answered as well, because the browser would not
 * send the actual request otherwise.
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
