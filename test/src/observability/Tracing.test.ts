import { describe, expect } from "bun:test"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../../../src/cli/Run.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { it } from "../../support/Effect.ts"
import { collector } from "./support/Collector.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform")

describe.skipIf(tool === null)("telemetry of the main job", () => {
  it.live("leads from the request through the actor to the tool, measures Runs, and holds no secret", () =>
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
      expect(trace.some(({ attributes }) => attributes.some(({ key }) => key === "http.request.method"))).toBe(true)

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
