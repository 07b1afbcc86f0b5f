import { Headers, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { sessionHeader } from "../../schema/api/SessionHeader.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** What pages of other origins may call: the API, and what a client reads to find it. */
const sharedPaths = /^\/(?:api\/v1\/|\.well-known\/svc(?:\?|$)|openapi\.json(?:\?|$))/

const exposed = "etag, retry-after, x-request-id"

const preflightHeaders = {
  "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers": "authorization, content-type, idempotency-key, if-none-match, last-event-id",
  "access-control-max-age": "600"
}

/** How a server answers pages of the origins that its operator named. */
export interface CrossOrigin {
  /** The same request without what a browser adds by itself, when it comes from such a page. */
  readonly admitted: (request: Request) => Request
  /** The response to a preflight request, or nothing. */
  readonly preflight: (request: Request) => Response | undefined
  /** The response, readable by the requesting page. */
  readonly readable: (request: Request, response: Response) => Response
}

const closed: CrossOrigin = {
  admitted: (request) => request,
  preflight: () => undefined,
  readable: (_, response) => response
}

/**
 * CORS for named origins, compared character for character. Credentials are never allowed: such a page sends a bearer token,
 * and a cookie or session on its request is ignored.
 */
export const crossOrigin = (origins: ReadonlyArray<string>): CrossOrigin => {
  if (origins.length === 0) return closed
  const named: ReadonlySet<string> = new Set(origins)
  const from = ({ headers, url }: Request) => {
    const { origin } = headers
    return origin !== undefined && named.has(origin) && sharedPaths.test(url) ? origin : undefined
  }
  return {
    admitted: (request) =>
      from(request) === undefined
        ? request
        : request.modify({ headers: Headers.removeMany(request.headers, ["cookie", sessionHeader]) }),
    preflight: (request) => {
      const asks = request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined
      return asks && from(request) !== undefined
        ? HttpServerResponse.empty({ status: 204, headers: preflightHeaders })
        : undefined
    },
    readable: (request, response) => {
      if (!sharedPaths.test(request.url)) return response
      const origin = from(request)
      return HttpServerResponse.setHeaders(response, {
        // Also for origins that may not read it: a cache must not serve one origin's response to another.
        vary: response.headers["vary"] === undefined ? "origin" : `${response.headers["vary"]}, origin`,
        ...(origin === undefined
          ? {}
          : { "access-control-allow-origin": origin, "access-control-expose-headers": exposed })
      })
    }
  }
}
