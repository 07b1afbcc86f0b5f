// This file is compiled in an empty project, against only the packages and with every strictness option.
import { Effect, Layer, Schema, Stream } from "effect"
import { Actor, type ApiError, layer as overHttp, Runs as RemoteRuns } from "@svc-dev/client"
import { type Capsule, Run, RunEvent, SvcApi } from "@svc-dev/schema"
import { ControlPlane, type Embedded, InstallPlans, layer, layerServer, Runs, type StartFailed } from "@svc-dev/server"
import * as testing from "@svc-dev/server/testing"

const named = (run: Run): string => `${run.id} ${run.status}`
export const decodeRun = Schema.decodeUnknownEffect(Run)
export const decodeEvent = Schema.decodeUnknownEffect(RunEvent)
export const groups: ReadonlyArray<string> = Object.keys(SvcApi.groups)
export const shown = (capsule: Capsule): string => capsule.name

// The server and the client share these classes.
export const sameRuns: typeof Runs = RemoteRuns

export const inProcess: Layer.Layer<Embedded, StartFailed> = layer({
  dataDir: "./plane",
  baseUrl: "https://svc.example.com",
  settings: { runConcurrency: 2, corsOrigins: ["https://app.example.com"], runTmp: "512MiB", keepAudit: 365 },
  drain: { grace: "20 seconds" }
})
export const listening: Layer.Layer<Embedded, StartFailed> = layerServer({ dataDir: "./plane", listen: "127.0.0.1:0" })

const install = Effect.fn("install")(function* (workspaceId: string) {
  const installs = yield* InstallPlans
  const runs = yield* Runs
  const { id } = yield* installs.create(workspaceId, {
    source: { name: "a", url: "https://git.example.com/a.git" },
    capsule: { name: "a", environment: "test" }
  })
  const plan = yield* installs.waitFor(id)
  yield* runs.approve(plan)
  const apply = yield* runs.apply(plan.id)
  const kinds = yield* Stream.runCollect(Stream.map(runs.events(apply.id), ({ kind }) => kind))
  return [named(yield* runs.waitFor(apply.id)), ...kinds]
})

/** The same program in three settings: in process, in a test, and over HTTP. */
export const programs = {
  inProcess: install("ws_a").pipe(Effect.provide(Layer.provideMerge(ControlPlane.user("usr_a"), inProcess))),
  inTest: install("ws_a").pipe(Effect.provide(Layer.provideMerge(testing.TestControlPlane.actor, testing.layer()))),
  remote: (token: Parameters<typeof Actor.token>[0]) =>
    install("ws_a").pipe(
      Effect.catchTag("ApiError", (error: ApiError) => Effect.succeed([error.code])),
      Effect.provide(Layer.merge(overHttp({ baseUrl: "https://svc.example.com" }), Actor.token(token)))
    )
}
