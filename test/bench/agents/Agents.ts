import { Effect, FileSystem } from "effect"
import { delaysOf, pacedTool, startRun } from "../Logs.ts"
import { type Figure, median, percentile } from "../support/Figures.ts"
import { apply, install } from "../support/Journey.ts"
import { module } from "../support/Modules.ts"
import { type FarProduct, farProduct } from "./FarProduct.ts"
import { largeState } from "./LargeState.ts"

const rounds = 9

/** Milliseconds of one plan and apply, and of the tool inside them. */
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
export const beside = Effect.fn("beside")(function* (binary: string, tool: string) {
  const product = yield* farProduct(binary, tool, { "main.tf": module }, { isDirect: true })
  for (const name of ["warm-a", "warm-b"]) {
    yield* round(product, product.near, `near-${name}`)
    yield* round(product, product.far, `far-${name}`)
  }
  const ratios: Array<number> = []
  const tools: Array<number> = []
  const [near, far]: [Array<number>, Array<number>] = [[], []]
  for (let turn = 0; turn < rounds; turn++) {
    const here = yield* round(product, product.near, `near-${turn}`)
    const there = yield* round(product, product.far, `far-${turn}`)
    near.push(here.total)
    far.push(there.total)
    ratios.push(there.total / here.total)
    tools.push(there.tool / here.tool)
  }
  const figure: Figure = {
    name: "plan + apply through an agent against the pool local",
    figure: median(ratios),
    unit: "x",
    target: { atMost: 1.15 },
    detail: `${median(far).toFixed(0)} ms against ${median(near).toFixed(0)} ms; from the tool's start to the end: ${median(tools).toFixed(2)} x`
  }
  return figure
}, Effect.scoped)

/** The time from when a plan is queued until its offer is sent to a waiting agent. */
export const offers = Effect.fn("offers")(function* (binary: string, tool: string) {
  const product = yield* farProduct(binary, tool, { "main.tf": module })
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
    detail: `median ${median(delays).toFixed(0)} ms`
  }
  return figure
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

/** The cost of an agent compared with the same work in process. */
export const agents = (binary: string, tool: string) =>
  Effect.gen(function* () {
    const [ratio, offered, lines] = [
      yield* beside(binary, tool),
      yield* offers(binary, tool),
      yield* logLines(binary, tool)
    ]
    return [ratio, offered, lines, ...(yield* largeState(binary, tool))]
  })
