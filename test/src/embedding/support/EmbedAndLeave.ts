// Embeds a control plane, uses it, closes it, and prints the number of remaining fibers. Never calls exit, so the process ends
// only if nothing keeps it alive.
import { Console, Context, Effect, Layer, Metric } from "effect"
import { makeClient } from "../../../../src/client/index.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { ControlPlane, layerServer, SvcClient } from "../../../../src/index.ts"
import { quiet } from "./Plane.ts"

const use = Effect.gen(function* () {
  const dataDir = process.argv[2] ?? ""
  const plane = layerServer({ dataDir, listen: "127.0.0.1:0", settings: { toolDownload: "off" } })
  const services = yield* Layer.build(Layer.provide(plane, quiet))
  const client = yield* makeClient({ baseUrl: Context.get(services, ControlPlane).baseUrl })
  yield* client.discovery.capabilities()
  yield* Context.get(services, SvcClient).discovery.capabilities()
}).pipe(Effect.scoped)

const program = Effect.gen(function* () {
  yield* use
  yield* Console.log("disposed")
  // Gives interrupted fibers time to end.
  yield* Effect.yieldNow
  const active = (yield* Metric.snapshot).find(({ id }) => id === "child_fibers_active")
  yield* Console.log(`active fibers: ${String(active?.type === "Gauge" ? active.state.value : "not measured")}`)
})

void Effect.runPromise(program.pipe(Effect.provide(Layer.merge(platform, Metric.enableRuntimeMetricsLayer))))
