import { Effect, FileSystem } from "effect"
import { delaysOf, pacedTool, startRun } from "../Logs.ts"
import { type Figure, median, percentile } from "../support/Figures.ts"
import { apply, install } from "../support/Journey.ts"
import { module } from "../support/Modules.ts"
import { type FarProduct, farProduct } from "./FarProduct.ts"
import { largeState } from "./LargeState.ts"

const rounds = 15

/** Milliseconds of one plan and apply, and how long the offer of each took from when it was queued. */
const round = Effect.fnUntraced(function* (product: FarProduct, url: string, name: string) {
  const planned = yield* install(product, url, name)
  const applied = yield* apply(product, planned.planRunId)
  return { total: planned.planned + applied.millis, tool: planned.tool + applied.tool }
})

const queuedAt = Effect.fnUntraced(function* (product: FarProduct, runId: string) {
  const answer = yield* product.client.runs.events({ params: { runId }, query: { limit: 10 } })
  const events = answer instanceof Response || !("events" in answer) ? [] : answer.events
  return Date.parse(events.find(({ kind }) => kind === "run.queued")?.at ?? "")
})

/** An agent on the machine of its server against the server itself; both take turns. */
const beside = Effect.fn("beside")(function* (binary: string, tool: string) {
  const product = yield* farProduct(binary, tool, { "main.tf": module })
  for (const name of ["warm-a", "warm-b"]) {
    yield* round(product, product.near, `near-${name}`)
    yield* round(product, product.far, `far-${name}`)
  }
  const ratios: Array<number> = []
  const tools: Array<number> = []
  const [near, far]: [Array<number>, Array<number>] = [[], []]
  const offers: Array<number> = []
  for (let turn = 0; turn < rounds; turn++) {
    const here = yield* round(product, product.near, `near-${turn}`)
    const offered = product.line.heard('"signature"')
    const planned = yield* install(product, product.far, `far-${turn}`)
    offers.push((offered() ?? Number.NaN) - (yield* queuedAt(product, planned.planRunId)))
    const applied = yield* apply(product, planned.planRunId)
    const there = planned.planned + applied.millis
    near.push(here.total)
    far.push(there)
    ratios.push(there / here.total)
    tools.push((planned.tool + applied.tool) / here.tool)
  }
  const figures: ReadonlyArray<Figure> = [
    {
      name: "plan + apply through an agent against the pool local",
      figure: median(ratios),
      unit: "x",
      target: { atMost: 1.15 },
      detail: `${median(far).toFixed(0)} ms against ${median(near).toFixed(0)} ms; the tool inside them: ${median(tools).toFixed(2)} x`
    },
    {
      name: "offer of a Run to a waiting agent after it was queued, p95",
      figure: percentile(offers, 0.95),
      unit: "ms",
      target: { atMost: 100 },
      detail: `median ${median(offers).toFixed(0)} ms`
    }
  ]
  return figures
}, Effect.scoped)

const logLines = Effect.fn("logLines")(function* (binary: string, tool: string) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-paced-" })
  const product = yield* farProduct(binary, tool, { "main.tf": module }, yield* pacedTool(folder, tool))
  const delays = yield* delaysOf(product, yield* startRun(product, product.far))
  const figure: Figure = {
    name: "log line from an agent's tool to a subscriber, p95",
    figure: percentile(delays, 0.95),
    unit: "ms",
    target: { atMost: 150 },
    detail: `median ${median(delays).toFixed(0)} ms, slowest ${Math.max(...delays).toFixed(0)} ms of ${delays.length} lines`
  }
  return figure
}, Effect.scoped)

/** What an agent costs beside the same work in process. */
export const agents = (binary: string, tool: string) =>
  Effect.gen(function* () {
    const figures = yield* beside(binary, tool)
    return [...figures, yield* logLines(binary, tool), ...(yield* largeState(binary, tool))]
  })
