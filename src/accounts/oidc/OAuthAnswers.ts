import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { OAuthError } from "../../../actors/access/issuer/OAuthError.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"

const uncached = { "cache-control": "no-store", pragma: "no-cache" }

// Lets public single-page clients call these endpoints from their own origins. Credentials are not allowed, because these
// endpoints ignore cookies.
const crossOrigin = { "access-control-allow-origin": "*" }

/** Creates a JSON response that must not be stored. */
export const freshJson = (body: unknown, options: { readonly crossOrigin: boolean }, status = 200) =>
  HttpServerResponse.jsonUnsafe(body, {
    status,
    headers: { ...uncached, ...(options.crossOrigin ? crossOrigin : {}) }
  })

/** Creates a JSON response that clients may store for the given time. */
export const cachedJson = (body: unknown, maxAgeSeconds: number) =>
  HttpServerResponse.jsonUnsafe(body, {
    headers: { "cache-control": `public, max-age=${maxAgeSeconds}`, ...crossOrigin }
  })

const oauthBody = (error: string, description: string) => ({ error, error_description: description })

const challengeOf = (error: OAuthError, scheme: "Basic" | "Bearer"): Record<string, string> => {
  if (scheme === "Basic") return error.error === "invalid_client" ? { "www-authenticate": 'Basic realm="svc"' } : {}
  return error.status === 401 || error.status === 403
    ? { "www-authenticate": `Bearer realm="svc", error="${error.error}", error_description="${error.description}"` }
    : {}
}

/** Creates an error response, with its challenge, in the format of the OAuth specifications. */
export const refusalJson = (
  error: OAuthError,
  options: { readonly crossOrigin: boolean; readonly scheme: "Basic" | "Bearer" }
) =>
  HttpServerResponse.setHeaders(freshJson(oauthBody(error.error, error.description), options, error.status), {
    ...challengeOf(error, options.scheme),
    ...(error.status === 503 ? { "retry-after": "5" } : {})
  })

/** Converts errors of the HTTP layer to OAuth's error format. */
const layerRefusal = (error: ApiError, options: { readonly crossOrigin: boolean }) =>
  HttpServerResponse.setHeaders(
    freshJson(
      oauthBody(error.code === "rate_limited" ? "temporarily_unavailable" : "invalid_request", error.message),
      options,
      error.status
    ),
    error.retryAfter === undefined ? {} : { "retry-after": String(error.retryAfter) }
  )

/** Converts the result or failure of an effect into a JSON response. */
export const answeringJson =
  (options: { readonly crossOrigin: boolean; readonly scheme: "Basic" | "Bearer" }) =>
  <R>(effect: Effect.Effect<HttpServerResponse.HttpServerResponse, OAuthError | ApiError, R>) =>
    Effect.catchTags(effect, {
      OAuthError: (error) => Effect.succeed(refusalJson(error, options)),
      ApiError: (error) => Effect.succeed(layerRefusal(error, options))
    })

/** Answers a preflight request for an endpoint with these methods. */
export const preflight = (methods: string) =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      ...crossOrigin,
      "access-control-allow-methods": methods,
      "access-control-allow-headers": "authorization, content-type",
      "access-control-max-age": "600"
    }
  })
