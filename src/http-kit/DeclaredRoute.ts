import type { Effect } from "effect"
import type { HttpMethod, HttpRouter } from "effect/http"

interface Declared<Method extends HttpMethod.HttpMethod, Path extends string> {
  readonly method: Method
  readonly path: Path
}

/** Returns the method and path of a declared route in the form that a router expects. */
export const routeOf = <const Method extends HttpMethod.HttpMethod, const Path extends `/${string}`>({
  method,
  path
}: Declared<Method, Path>) => [method, path] as const

/** The services that routes require, except those that the router provides for each request. */
export type RouteServices<Route> = Exclude<Effect.Services<Route>, HttpRouter.Provided>
