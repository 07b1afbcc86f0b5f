import { Cause } from "effect"
import { FindMyWay, HttpServerError } from "effect/http"
import { HttpApi } from "effect/http-api"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { errorResponse } from "../http-kit/ErrorResponse.ts"
import { methodNotAllowed } from "./RetiredRoutes.ts"
import { ServerApi } from "./ServerApi.ts"

/** Gives each resource a single path: slashes are not collapsed, and paths are case-sensitive. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 200
} as const

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const isPath = (path: string): path is `/${string}` => path.startsWith("/")

const knownRoutes = () => {
  const routes = FindMyWay.make<true>(routerConfig)
  HttpApi.reflect(ServerApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      if (isPath(endpoint.path)) routes.on(endpoint.method, endpoint.path, true)
    }
  })
  return routes
}

// Built on first use, to keep startup fast.
let made: ReturnType<typeof knownRoutes> | undefined

/** Matches paths that programs use. Any other path is a page or a file of the dashboard. */
const ofPrograms = /^\/(?:api|auth|oauth|hooks|agent|internal|\.well-known)\//

/**
 * Returns true if the path ends with a slash or contains two consecutive slashes. Without this check, the router would treat the
 * empty segment as a parameter, and the route would refuse the request for an unrelated reason.
 */
export const hasEmptySegment = (url: string): boolean => {
  if (!ofPrograms.test(url)) return false
  const path = url.split("?", 1)[0] ?? ""
  return path.endsWith("/") || path.includes("//")
}

const allowedMethods = (url: string): ReadonlyArray<string> => {
  if (hasEmptySegment(url)) return []
  const known = (made ??= knownRoutes())
  return methods
    .filter((method) => known.find(method, url) !== undefined)
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
}

const notFoundError = new ApiError({
  code: "not_found",
  message: "There is no such route. The routes are listed at /openapi.json."
})

/** Returns true if the request failed because no route matched. */
export const isRouteNotFound = <E>(cause: Cause.Cause<E>): boolean =>
  cause.reasons.some(
    (reason) =>
      Cause.isFailReason(reason) &&
      HttpServerError.isHttpServerError(reason.error) &&
      reason.error.reason._tag === "RouteNotFound"
  )

/** Responds with 405 and `Allow` for a known path with an unsupported method, and with 404 otherwise. */
export const unknownRouteResponse = (url: string, requestId: string) => {
  const allowed = allowedMethods(url)
  return allowed.length === 0
    ? errorResponse(notFoundError, requestId)
    : methodNotAllowed(allowed, `This route supports only ${allowed.join(", ")}.`, requestId)
}
