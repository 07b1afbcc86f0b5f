import { Context, Effect, type Layer, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { MountedBaseUrl } from "../http/MountedBaseUrl.ts"
import { Exchange, type ExchangeShape } from "../http-kit/Exchange.ts"
import { ControlPlane } from "./ControlPlane.ts"

/** Information about a request that only the host's server has: the client address, an id, and the WebSocket upgrade. */
export type Exchanged = Partial<Pick<ExchangeShape, "requestId" | "remoteAddress" | "upgrade" | "bodyReceived">>

/** Handles all requests to the origin on behalf of the host's server: API, dashboard, issuer and hooks. */
export const handler: Effect.Effect<
  (request: Request, exchanged?: Exchanged) => Promise<Response>,
  never,
  ControlPlane
> = Effect.map(
  ControlPlane,
  ({ handle }) =>
    (request, exchanged = {}) =>
      handle(request, Context.make(Exchange, { requestId: "", bodyReceived: () => {}, ...exchanged }))
)

const openApiPath = "/openapi.json"
const openPaths = ["/api/v1/*", "/hooks/*", "/healthz", "/readyz", openApiPath, "/.well-known/svc"] as const
const isOpen = (path: string): boolean =>
  openPaths.some((open) => (open.endsWith("*") ? path.startsWith(open.slice(0, -1)) : path === open))

const wellFormedPrefix = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/

const unknown = HttpServerResponse.empty({ status: 404 })

const OpenApiDocument = Schema.fromJsonString(
  Schema.StructWithRest(Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Json) }), [
    Schema.Record(Schema.String, Schema.Json)
  ])
)
const readDocument = Schema.decodeEffect(OpenApiDocument)

export interface RoutesOptions {
  /** Prefix of the API, such as `/svc`. */
  readonly prefix: `/${string}`
  /** Public origin of the host's server, if it differs from the control plane's `baseUrl`. */
  readonly origin?: string
}

/**
 * Serves the API together with the host's own routes: `/api/v1`, webhooks, discovery and health below a prefix. Accepts tokens
 * but no cookies, so that a page on the host's site cannot act as a signed-in person. The dashboard and the issuer need a
 * separate origin, which `handler` serves.
 */
export const layerRoutes = ({
  origin,
  prefix
}: RoutesOptions): Layer.Layer<never, never, ControlPlane | HttpRouter.HttpRouter> =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      if (!wellFormedPrefix.test(prefix)) {
        return yield* Effect.die(new Error(`${prefix} is not a prefix of routes. Give one or more plain segments.`))
      }
      const { baseUrl, handle } = yield* ControlPlane
      const mounted = `${new URL(origin ?? baseUrl).origin}${prefix}`

      /** Describe only the routes below the prefix. */
      const description = yield* Effect.cached(
        Effect.promise(() => handle(new Request(`${baseUrl}${openApiPath}`)).then((response) => response.text())).pipe(
          Effect.flatMap((text) => Effect.orDie(readDocument(text))),
          Effect.map(({ paths, ...document }) =>
            HttpServerResponse.jsonUnsafe({
              ...document,
              servers: [{ url: mounted }],
              paths: Object.fromEntries(Object.entries(paths).filter(([path]) => isOpen(path)))
            })
          )
        )
      )

      const relayed = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
        const web = yield* Effect.orDie(HttpServerRequest.toWeb(request))
        const { pathname, search } = new URL(web.url)
        const path = pathname.startsWith(prefix) ? pathname.slice(prefix.length) : ""
        // The URL is already normalised, so no path that leaves the prefix can match an open path.
        if (!isOpen(path)) return unknown
        if (path === openApiPath && web.method === "GET") return yield* description
        const headers = new Headers(web.headers)
        headers.delete("cookie")
        const { body, method, signal } = web
        const relay = new Request(`${baseUrl}${path}${search}`, {
          method,
          headers,
          signal,
          ...(body === null ? {} : { body, duplex: "half" })
        })
        const exchange = {
          requestId: "",
          bodyReceived: () => {},
          remoteAddress: Option.getOrUndefined(request.remoteAddress)
        }
        const context = Context.make(Exchange, exchange).pipe(Context.add(MountedBaseUrl, mounted))
        return HttpServerResponse.fromWeb(yield* Effect.promise(() => handle(relay, context)))
      })

      for (const path of openPaths) yield* router.add("*", `${prefix}${path}`, relayed)
    })
  )
