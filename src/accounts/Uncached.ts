import { type Context, Effect } from "effect"
import { HttpServerResponse } from "effect/http"

/** Gives routes their services, and keeps what they answer out of every cache: who somebody is must not outlive the moment. */
export const uncached =
  <S>(services: Context.Context<S>) =>
  <E, R>(route: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    route.pipe(Effect.map(HttpServerResponse.setHeader("cache-control", "no-store")), Effect.provideContext(services))
