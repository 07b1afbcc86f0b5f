import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp } from "effect/observability"

/** Exports traces, metrics and logs to an OTLP/HTTP collector; nothing without an address. */
export const telemetry = (options: {
  readonly url: string | undefined
  readonly version: string
}): Layer.Layer<never> =>
  options.url === undefined
    ? Layer.empty
    : Otlp.layerJson({
        baseUrl: options.url,
        resource: { serviceName: "svc", serviceVersion: options.version },
        shutdownTimeout: "3 seconds"
      }).pipe(Layer.provide(FetchHttpClient.layer))
