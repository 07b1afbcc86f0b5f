import { Context, Duration, Effect, Layer, Option } from "effect"
import type { HttpRouter } from "effect/http"
import { IssuerSettings } from "../../../actors/access/issuer/IssuerSettings.ts"
import { StaticClients } from "../../../actors/access/issuer/StaticClients.ts"
import type { HttpSettings } from "../../http-kit/HttpSettings.ts"
import type { AttemptLimits } from "../AttemptLimits.ts"
import { ClientsInForce, type ClientSettings } from "./ClientsInForce.ts"
import { oidcRoutes } from "./OidcRoutes.ts"
import { oidcServices } from "./OidcServices.ts"
import { readStaticClients } from "./StaticClientFile.ts"

type RouteServices = Exclude<Layer.Services<typeof oidcRoutes>, HttpRouter.HttpRouter>
/** Services that the HTTP server provides to all of its routes. */
type HandlerServices = AttemptLimits | HttpSettings

/** The routes of this process's issuer. */
export class IssuerRoutes extends Context.Service<
  IssuerRoutes,
  { readonly routes: Layer.Layer<never, never, HttpRouter.HttpRouter | HandlerServices> }
>()("svc/src/accounts/oidc/OidcFace") {
  static readonly layer = Layer.effect(
    IssuerRoutes,
    Effect.map(Effect.context<Exclude<RouteServices, HandlerServices>>(), (services) => ({
      routes: Layer.provide(oidcRoutes, Layer.succeedContext(services))
    }))
  )
}

/** Mounts the routes of the issuer if the composition has an issuer. */
export const mountedOidcRoutes = Layer.unwrap(
  Effect.map(
    Effect.serviceOption(IssuerRoutes),
    Option.match({ onNone: () => Layer.empty, onSome: ({ routes }) => routes })
  )
)

/**
 * Builds the complete issuer on top of storage: decisions, keys, cleanup and routes. `issuer` is the public origin without a
 * trailing slash. The actors depend on the issuer's services, because Capsules use its identity.
 */
export const oidcIssuer = (
  options: ClientSettings & {
    readonly issuer: string
    readonly refreshReuseGrace?: Duration.Input | undefined
  }
) =>
  IssuerRoutes.layer.pipe(
    Layer.provideMerge(oidcServices),
    Layer.provideMerge(ClientsInForce.layer(options)),
    Layer.provideMerge(Layer.unwrap(Effect.map(readStaticClients(options.clientsFile), StaticClients.layer))),
    Layer.provideMerge(
      Layer.succeed(IssuerSettings, {
        issuer: options.issuer,
        refreshReuseGrace: Duration.fromInputUnsafe(options.refreshReuseGrace ?? 0)
      })
    )
  )
