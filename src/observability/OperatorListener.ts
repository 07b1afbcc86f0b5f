import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { createServer } from "node:http"
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { healthRoutes, type Readiness } from "../http/Health.ts"
import type { ListenAddress } from "../http-kit/ListenAddress.ts"
import { metricsRoute } from "./ServedMetrics.ts"

/**
 * `/metrics`, `/healthz` and `/readyz` on a separate address, for the operator's network only. This listener is the first to open
 * and the last to close: it responds during migrations and during the grace period of Runs.
 */
export class OperatorListener extends Context.Service<
  OperatorListener,
  {
    /** `http://host:port`; none when there is no such listener. */
    readonly url: string | undefined
    /** Marks the service as up for as long as the Scope lasts: from then on `readiness` decides. */
    readonly up: (readiness: Effect.Effect<Readiness>) => Effect.Effect<void, never, Scope.Scope>
  }
>()("svc/src/observability/OperatorListener") {
  static readonly none = Layer.succeed(OperatorListener, { url: undefined, up: () => Effect.void })

  static readonly layer = (address: ListenAddress) =>
    Layer.unwrap(
      Effect.sync(() => {
        let current: Effect.Effect<Readiness> = Effect.succeed("starting")
        const routes = Layer.mergeAll(metricsRoute, healthRoutes(Effect.suspend(() => current)))
        const listener = Layer.effect(
          OperatorListener,
          Effect.map(HttpServer.HttpServer, (server) => ({
            url: HttpServer.formatAddress(server.address),
            up: (readiness) =>
              Effect.acquireRelease(
                Effect.sync(() => {
                  current = readiness
                }),
                () =>
                  Effect.sync(() => {
                    current = Effect.succeed("draining")
                  })
              )
          }))
        )
        const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })
        // Only the listener is passed on: the service's routes must not end up on this router.
        return listener.pipe(
          Layer.provide(served),
          Layer.provide(NodeHttpServer.layer(createServer, { host: address.host, port: address.port }))
        )
      })
    )
}
