import { NodeHttpServer } from "@effect/platform-node"
import { createServer } from "node:http"
import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { health } from "../http/Health.ts"
import type { ListenAddress } from "../http/ListenAddress.ts"

/** `/metrics`, `/healthz` and `/readyz` on an address of their own, for the operator's network only. */
export const operatorListener = (address: ListenAddress) =>
  HttpRouter.serve(Layer.mergeAll(PrometheusMetrics.layerHttp(), health), {
    disableLogger: true,
    disableListenLog: true
  }).pipe(Layer.provide(NodeHttpServer.layer(createServer, { host: address.host, port: address.port })))
