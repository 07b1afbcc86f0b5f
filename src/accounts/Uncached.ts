import { type Context, Effect } from "effect"
import { HttpServerResponse } from "effect/http"

/** Provides routes with their services, and forbids caching their responses, because these identify a person. */
export const uncached =
  <S>(services: Context.Context<S>) =>
  <E, R>(route: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    route.pipe(Effect.map(HttpServerResponse.setHeader("cache-control", "no-store")), Effect.provideContext(services))
