import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"

/** Forbids caching the responses of a route, because they identify a person. */
export const uncached = <E, R>(route: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.map(route, HttpServerResponse.setHeader("cache-control", "no-store"))
