import { describe, expect } from "bun:test"
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../../../src/cli/Run.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { it } from "../../support/Effect.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform")

const Traces = Schema.fromJsonString(
  Schema.Struct({
    resourceSpans: Schema.Array(
      Schema.Struct({
        scopeSpans: Schema.Array(
          Schema.Struct({
            spans: Schema.Array(
              Schema.Struct({
                traceId: Schema.String,
                name: Schema.String,
                attributes: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.Unknown }))
              })
            )
          })
        )
      })
    )
  })
)

const decodeTraces = Schema.decodeEffect(Traces)

/** A collector on loopback, for the Scope. */
const collector = Effect.gen(function* () {
  const received: Array<{ readonly path: string; readonly body: string }> = []
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: async (request) => {
          const bytes = new Uint8Array(await request.arrayBuffer())
          const plain = request.headers.get("content-encoding") === "gzip" ? Bun.gunzipSync(bytes) : bytes
          received.push({ path: new URL(request.url).pathname, body: new TextDecoder().decode(plain) })
          return Response.json({})
        }
      })
    ),
    (server) => Effect.promise(() => server.stop(true))
  )
  return { origin: server.url.origin, received }
})

describe.skipIf(tool === null)("telemetry of the main job", () => {
  it.live("leads from the request through the actor to the tool, measures Runs, and holds no secret", () =>
    Effect.gen(function* () {
      const { origin, received } = yield* collector
      const environment = { SVC_OTLP_URL: origin, PATH: process.env["PATH"] ?? "" }
      yield* run(["demo", "--json"]).pipe(
        Effect.provide(
          Layer.mergeAll(platform, TestConsole.layer, ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))
        )
      )
      const bodies = (path: string) => received.filter((request) => request.path === path).map(({ body }) => body)
      const decoded = yield* Effect.forEach(bodies("/v1/traces"), (body) => decodeTraces(body))
      const spans = decoded.flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
      )
      const applies = spans.filter(
        ({ attributes, name }) => name === "Run.execute" && JSON.stringify(attributes).includes('"destroy_apply"')
      )
      expect(applies).toHaveLength(1)
      const trace = spans.filter(({ traceId }) => traceId === applies[0]?.traceId)
      const names = trace.map(({ name }) => name)
      expect(names).toContain("Runs.apply")
      expect(names).toContain("ToolRun.run")
      expect(trace.some(({ attributes }) => attributes.some(({ key }) => key === "http.request.method"))).toBe(true)

      const metrics = bodies("/v1/metrics").join("\n")
      for (const name of [
        "svc_run_wait_seconds",
        "svc_run_duration_seconds",
        "svc_run_phase_duration_seconds",
        "svc_runs_ended_total"
      ])
        expect(metrics).toContain(name)

      const everything = received.map(({ body }) => body).join("\n")
      for (const secret of ["a password of the demo", "svcp_", "svct_", "svcs_"])
        expect(everything).not.toContain(secret)
    })
  )
})
