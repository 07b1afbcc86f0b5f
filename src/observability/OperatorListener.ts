import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { createServer } from "node:http"
import { Context, Effect, Layer, type Scope, Metric } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { healthRoutes, type Readiness } from "../http/Health.ts"
import type { ListenAddress } from "../http-kit/ListenAddress.ts"
import { monitorEventLoopDelay } from "node:perf_hooks"
import process from "node:process"
import { PrometheusMetrics } from "effect/observability"
import { version } from "../Version.ts"

const build = Metric.withAttributes(
  Metric.gauge("svc_build_info", { description: "Always 1; the label is the release that runs." }),
  { version }
)

const processorSeconds = Metric.counter("process_cpu_seconds_total", {
  description: "Processor time that the service has used, in seconds. Tools of Runs are processes of their own.",
  incremental: true
})

const memory = Metric.gauge("process_resident_memory_bytes", {
  description: "Memory that the service holds, in bytes."
})

const blocked = Metric.gauge("svc_main_thread_blocked_seconds", {
  description: "The longest time since the last scrape in which the main thread reacted to nothing, in seconds."
})

const startTime = Metric.gauge("process_start_time_seconds", {
  description: "When the process started, in seconds since 1970."
})

const microsecondsPerSecond = 1_000_000
const nanosecondsPerSecond = 1_000_000_000
/** Interval, in milliseconds, for measuring the main thread's delay. */
const delayEvery = 20

/** Reads the metrics of the process anew for each scrape. */
const processSampler = () => {
  let counted = 0
  const delays = monitorEventLoopDelay({ resolution: delayEvery })
  delays.enable()
  return Effect.gen(function* () {
    const { system, user } = process.cpuUsage()
    const used = (user + system) / microsecondsPerSecond
    const since = Math.max(0, used - counted)
    counted = used
    yield* Metric.update(processorSeconds, since)
    yield* Metric.update(memory, process.memoryUsage.rss())
    yield* Metric.update(blocked, delays.max / nanosecondsPerSecond)
    delays.reset()
    yield* Metric.update(startTime, performance.timeOrigin / 1000)
    yield* Metric.update(build, 1)
  })
}

/** Excludes metrics from libraries, because they have neither help texts nor a stability guarantee. */
const isOurs = (id: string) => id.startsWith("svc_") || id.startsWith("process_")

const scrape = Effect.gen(function* () {
  const registry = yield* Metric.MetricRegistry
  const ours = new Map([...registry].filter(([, { id }]) => isOurs(id)))
  const body = yield* Effect.provideService(PrometheusMetrics.format(), Metric.MetricRegistry, ours)
  return HttpServerResponse.text(body, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
})

/** Serves the metrics documented in `docs/operations/metrics.md` at `/metrics`, in Prometheus' text format. */
const metricsRoute = HttpRouter.use((router) => {
  const sample = processSampler()
  return router.add("GET", "/metrics", Effect.andThen(sample, scrape))
})

/**
 * Serves `/metrics`, `/healthz` and `/readyz` at a separate address, which only the operator's network should reach. This
 * listener opens first and closes last, so it responds during migrations and during the grace period of Runs.
 */
export class OperatorListener extends Context.Service<
  OperatorListener,
  {
    /** `http://host:port`, or `undefined` if there is no operator listener. */
    readonly url: string | undefined
    /** Marks the server as started until the Scope closes. During that time, `readiness` determines the response. */
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
        // Provide only the listener, so that the server's routes are not added to this router.
        return listener.pipe(
          Layer.provide(served),
          Layer.provide(NodeHttpServer.layer(createServer, { host: address.host, port: address.port }))
        )
      })
    )
}
