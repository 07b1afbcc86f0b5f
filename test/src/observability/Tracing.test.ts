import { describe, expect } from "bun:test"
import { ConfigProvider, Context, Effect, Layer, Option } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../../../src/cli/Run.ts"
import { controlPlane } from "../../../src/Composition.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { it } from "../../support/Effect.ts"
import { collector } from "./support/Collector.ts"
import { migratedFolder } from "../../support/MigratedDatabase.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform")

describe.skipIf(tool === null)("Main job telemetry", () => {
  it.live("the telemetry of a Run covers the request, the services and the tool, and contains no secret", () =>
    Effect.gen(function* () {
      const { bodies, everything, origin, ...collected } = yield* collector
      const environment = { SVC_OTLP_URL: origin, PATH: process.env["PATH"] ?? "" }
      yield* run(["demo", "--json"]).pipe(
        Effect.provide(
          Layer.mergeAll(platform, TestConsole.layer, ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))
        )
      )
      const spans = yield* collected.spans
      const applies = spans.filter(
        ({ attributes, name }) => name === "Run.execute" && JSON.stringify(attributes).includes('"destroy_apply"')
      )
      expect(applies).toHaveLength(1)
      const trace = spans.filter(({ traceId }) => traceId === applies[0]?.traceId)
      const names = trace.map(({ name }) => name)
      expect(names).toContain("Runs.apply")
      expect(names).toContain("ToolRun.run")
      // The test requires the request to be an ancestor, because sharing a trace proves nothing: client and server always
      // share a trace in this demo.
      const leadingTo = (span: (typeof spans)[number] | undefined): ReadonlyArray<(typeof spans)[number]> =>
        span === undefined ? [] : [...leadingTo(spans.find(({ spanId }) => spanId === span.parentSpanId)), span]
      const routes = leadingTo(applies[0]).flatMap(({ attributes }) =>
        attributes.filter(({ key }) => key === "http.route").map(({ value }) => JSON.stringify(value))
      )
      expect(routes).toEqual([expect.stringContaining("/api/v1/runs/:runId/apply")])
      expect(leadingTo(trace.find(({ name }) => name === "ToolRun.run")).map(({ name }) => name)).toContain(
        "Run.execute"
      )

      const metrics = bodies("/v1/metrics").join("\n")
      for (const name of [
        "svc_run_wait_seconds",
        "svc_run_duration_seconds",
        "svc_run_phase_duration_seconds",
        "svc_runs_ended_total"
      ])
        expect(metrics).toContain(name)

      for (const secret of ["a password of the demo", "svcp_", "svct_", "svcs_"])
        expect(everything()).not.toContain(secret)
    })
  )
})

it.live("traces never contain the code or state of an authorization response", () =>
  Effect.gen(function* () {
    const { everything, origin, ...collected } = yield* collector
    const dataDir = yield* migratedFolder
    const settings = yield* loadSettings(
      new Map(Object.entries({ dataDir, listen: "127.0.0.1:0", log: "error", toolDownload: "off", otlpUrl: origin })),
      Option.none()
    )
    const path = "/api/v1/connections/oauth/cloud/callback"
    yield* Effect.gen(function* () {
      const { url } = Context.get(yield* Layer.build(controlPlane(settings)), HttpListener)
      for (const asked of [path, "/api/v1/connections/github-app/callback", "/auth/upstream/callback"])
        yield* Effect.promise(() => fetch(`${url}${asked}?code=hunter2-code&state=hunter2-state`))
    }).pipe(Effect.scoped)
    expect(JSON.stringify(yield* collected.spans)).toContain(path)
    expect(everything()).not.toContain("hunter2")
  }).pipe(Effect.provide(platform))
)
