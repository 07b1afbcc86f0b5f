// Embeds a control plane, uses it, closes it, and prints how many fibers are left. It never calls exit.
import { Console, Context, Effect, Layer, Metric, Option } from "effect"
import { makeClient } from "../../../../src/client/index.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { HttpListener, layer, loadSettings } from "../../../../src/index.ts"

const use = Effect.gen(function* () {
  const given = { dataDir: process.argv[2] ?? "", listen: "127.0.0.1:0", log: "error", toolDownload: "off" }
  const settings = yield* loadSettings(new Map(Object.entries(given)), Option.none())
  const services = yield* Layer.build(layer({ settings }))
  const client = yield* makeClient({ baseUrl: Context.get(services, HttpListener).url })
  yield* client.discovery.capabilities()
}).pipe(Effect.scoped)

const program = Effect.gen(function* () {
  yield* use
  yield* Console.log("disposed")
  // Lets interrupted fibers finish.
  yield* Effect.yieldNow
  const active = (yield* Metric.snapshot).find(({ id }) => id === "child_fibers_active")
  yield* Console.log(`active fibers: ${String(active?.type === "Gauge" ? active.state.value : "not measured")}`)
})

void Effect.runPromise(program.pipe(Effect.provide(Layer.merge(platform, Metric.enableRuntimeMetricsLayer))))
