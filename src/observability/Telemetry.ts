import { Layer, References } from "effect"
import { FetchHttpClient, UrlParams } from "effect/http"
import { Otlp } from "effect/observability"

// Makes traces include the names of query parameters but not their values, because query strings contain codes, states and values
// from links.
const everyParameter = Layer.succeed(UrlParams.CurrentRedactedNames, [/^/])

/** Exports traces, metrics and logs to an OTLP/HTTP collector. Without an address, no spans are created. */
export const telemetry = (options: {
  readonly url: string | undefined
  readonly version: string
}): Layer.Layer<never> =>
  options.url === undefined
    ? Layer.succeed(References.TracerEnabled, false)
    : Otlp.layerJson({
        baseUrl: options.url,
        resource: { serviceName: "svc", serviceVersion: options.version },
        shutdownTimeout: "3 seconds"
      }).pipe(
        Layer.provide(FetchHttpClient.layer),
        Layer.merge(everyParameter),
        // Enable tracing even if the surrounding program has its own spans.
        Layer.merge(Layer.succeed(References.TracerEnabled, true))
      )
