import { Context, Effect, Layer } from "effect"
import { HttpEffect, HttpRouter, HttpServer, UrlParams } from "effect/http"
import { authRoutes } from "../accounts/AuthRoutes.ts"
import { mountedOidcRoutes } from "../accounts/oidc/IssuerRoutes.ts"
import { passkeyRoutes } from "../accounts/PasskeyRoutes.ts"
import { upstreamRoutes } from "../accounts/upstream/UpstreamRoutes.ts"
import { agentRoutes } from "./agent/AgentRoutes.ts"
import { apiMiddleware, apiRoutes } from "./ApiRoutes.ts"
import { dashboardRoutes } from "./DashboardRoutes.ts"
import { docsRoutes } from "./DocsRoutes.ts"
import { installRoute } from "./handoff/InstallRoute.ts"
import { returnRoutes } from "./handoff/ReturnRoutes.ts"
import { schemaRoutes } from "./handoff/SchemaRoutes.ts"
import { health } from "./Health.ts"
import { openApiDocument } from "./OpenApiDocument.ts"
import { operatorRoutes } from "./OperatorRoutes.ts"
import { commonHeaders } from "./CommonHeaders.ts"
import { sampleRoutes } from "./SampleRoutes.ts"
import { sourceHooks } from "./SourceHooks.ts"
import { routerConfig } from "./UnknownRoutes.ts"

/** The complete HTTP interface as a function from request to response, independent of the HTTP server. */
export type WebHandler = (request: Request, context?: Context.Context<never>) => Promise<Response>

/** The mounted handler, which code in this process can call. */
export class HttpHandler extends Context.Service<HttpHandler, { readonly handler: WebHandler }>()(
  "svc/src/http/HttpFace"
) {}

/** Every route of a server. */
export const serverRoutes = Layer.mergeAll(
  agentRoutes,
  apiRoutes,
  authRoutes,
  passkeyRoutes,
  upstreamRoutes,
  mountedOidcRoutes,
  openApiDocument,
  health,
  sourceHooks,
  sampleRoutes,
  installRoute,
  returnRoutes,
  operatorRoutes,
  schemaRoutes,
  dashboardRoutes,
  docsRoutes,
  commonHeaders
).pipe(Layer.provide(apiMiddleware), Layer.provide(HttpServer.layerServices))

type Needs = Layer.Services<typeof serverRoutes>
type Marker = HttpRouter.Request<"Requires" | "Error" | "GlobalRequires" | "GlobalError", unknown>

/** All services that the routes and their requests require. */
export type HttpServices =
  | Exclude<Needs, HttpRouter.HttpRouter | Marker>
  | Exclude<HttpRouter.Request.Only<"Requires" | "GlobalRequires", Needs>, HttpRouter.Provided>

// Number of services that a request can add before all services are copied into one map. The routes have more than a hundred
// services, and a request adds about twenty. With the default of 8, each request would copy all of them several times.
const maxDepth = 32

/** Query parameters that may contain a secret. A trace records their names but not their values. */
const secretParameters: ReadonlyArray<string> = [
  "access_token",
  "code",
  "error_description",
  "id_token",
  "id_token_hint",
  "state",
  "ticket",
  "token",
  "user_code"
]

/** Builds the routes once. They work until the caller's scope closes. */
export const makeWebHandler = Effect.gen(function* () {
  const services = yield* Effect.context<HttpServices>()
  const application = Layer.provideMerge(serverRoutes, Layer.succeedContext(services))
  const answer = yield* HttpRouter.toHttpEffect(application).pipe(
    Effect.provideService(HttpRouter.RouterConfig, routerConfig)
  )
  const known = new Map(services.mapUnsafe).set(UrlParams.CurrentRedactedNames.key, secretParameters)
  const context = Context.makeUnsafe<HttpServices>(known, { maxDepth })
  const handler: WebHandler = HttpEffect.toWebHandlerWith<HttpServices, Effect.Services<typeof answer>>(context)(answer)
  return handler
})
