import { Effect, FileSystem } from "effect"
import { delaysOf, pacedTool, startRun } from "../Logs.ts"
import { type Figure, median, type Parts, percentile } from "../support/Figures.ts"
import { install } from "../support/Journey.ts"
import { module } from "../support/Modules.ts"
import { beside } from "./Beside.ts"
import { type FarProduct, farProduct, promptly } from "./FarProduct.ts"
import { largeState } from "./LargeState.ts"

const rounds = 9

const queuedAt = Effect.fnUntraced(function* (product: FarProduct, runId: string) {
  const answer = yield* product.client.runs.events({ params: { runId }, query: { limit: 10 } })
  const events = answer instanceof Response || !("events" in answer) ? [] : answer.events
  return Date.parse(events.find(({ kind }) => kind === "run.queued")?.at ?? "")
})

/** Measures the time from queueing a plan until the server offers it to a waiting agent. */
export const offers = Effect.fn("offers")(function* (binary: string, tool: string) {
  const product = yield* farProduct(binary, tool, { "main.tf": module })
  const priority = yield* promptly(product)
  const delays: Array<number> = []
  for (let turn = 0; turn < rounds; turn++) {
    const offered = product.line.heard('"signature"')
    const { planRunId } = yield* install(product, product.far, `offer-${turn}`)
    delays.push((offered() ?? Number.NaN) - (yield* queuedAt(product, planRunId)))
  }
  const figure: Figure = {
    name: "offer of a Run to a waiting agent after it was queued, p95",
    figure: percentile(delays, 0.95),
    unit: "ms",
    target: { atMost: 100 },
    detail: `median ${median(delays).toFixed(0)} ms, ${priority}`
  }
  return [figure]
}, Effect.scoped)

export const logLines = Effect.fn("logLines")(function* (binary: string, tool: string) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-paced-" })
  const product = yield* farProduct(
    binary,
    tool,
    { "main.tf": module },
    {
      agentTool: yield* pacedTool(folder, tool)
    }
  )
  const priority = yield* promptly(product)
  const delays = yield* delaysOf(product, yield* startRun(product, product.far))
  const figure: Figure = {
    name: "log line from an agent's tool to a subscriber, p95",
    figure: percentile(delays, 0.95),
    unit: "ms",
    target: { atMost: 150 },
    detail: `median ${median(delays).toFixed(0)} ms, slowest ${Math.max(...delays).toFixed(0)} ms of ${delays.length} lines, ${priority}`
  }
  return [figure]
}, Effect.scoped)

/**
 * Compares the cost of running work on an agent with the cost of the same work in process. Prints each result as soon as it
 * is measured.
 */
export const agents = (binary: string, tool: string): Parts => [
  { name: "plan + apply", figures: beside(binary, tool) },
  { name: "offers", figures: offers(binary, tool) },
  { name: "log lines", figures: logLines(binary, tool) },
  { name: "a large state", figures: largeState(binary, tool) }
]
