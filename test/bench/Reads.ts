import { Effect, Option, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { type Figure, median, percentile } from "./support/Figures.ts"
import { type Load, loadClient, type LoadFailed, type Measured as Loaded } from "./support/Load.ts"
import { type ReadRoute, readRoutes } from "./support/ReadRoutes.ts"
import { listed, readWorld } from "./support/ReadWorld.ts"
import { threadTimes } from "./support/ThreadTimes.ts"

const rounds = 5
const connections = 10
// The warm-up is longer than the measurement, because the first responses spend much of their time on compilation.
const loadSeconds = 0.2
const warmUpSeconds = 0.6
// On a busy machine, the warm-up time may be too short to compile the code, so the warm-up also requires a number of
// responses.
const fewestToWarm = 500
const fewest = 60
/** The limit for p99 as a multiple of p50. */
const steady = 5
const bare = fileURLToPath(new URL("support/BareServer.ts", import.meta.url))

// Returns the 99th percentile of response times as a multiple of the median.
const tailOf = (millis: ReadonlyArray<number>) => percentile(millis, 0.99) / median(millis)

interface Measured {
  readonly route: ReadRoute
  readonly perSecond: number
  /** The ratio to the baseline, which is the discovery document or a minimal server with the same rows. */
  readonly ratio: number
  /** The server's CPU time per request. */
  readonly processorMillis: number
  readonly p50: number
  /** p99 as a multiple of p50, for the route and for its baseline, measured in the same rounds. */
  readonly tail: number
  readonly otherTail: number
  /** The share of rounds in which the service's main thread was ready to run but had no core. */
  readonly waited: number
}

// Routes that return far more than a record or a list, and have separate targets.
const whole: ReadonlySet<string> = new Set(["dashboard.overview", "sources.installModules"])

const bareServer = Effect.fnUntraced(function* (dataDir: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const process_ = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [bare, `${dataDir}/svc.sqlite`], { extendEnv: true, stderr: "inherit" })
  )
  const line = yield* Stream.decodeText(process_.stdout).pipe(Stream.splitLines, Stream.runHead)
  return { barePort: Number(Option.getOrThrow(line)), barePid: process_.pid }
})

const bareRequest = ({ column, table, value }: NonNullable<ReadRoute["rows"]>) =>
  `GET /rows/${table}?limit=${listed}${column === undefined ? "&value=" : `&column=${column}&value=${value}`} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`

const discovery = "GET /api/v1/capabilities HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"

type Send = (load: Load) => Effect.Effect<Loaded, LoadFailed>

const asking = (send: Send, port: number, request: string, isHeavy = false) => {
  const ask = (requests: number) => send({ port, request, connections: isHeavy ? 1 : connections, requests })
  return Effect.gen(function* () {
    const first = yield* ask(fewest)
    const warm = yield* ask(Math.max(isHeavy ? fewest : fewestToWarm, Math.round(first.perSecond * warmUpSeconds)))
    const requests = Math.max(fewest, Math.round(warm.perSecond * loadSeconds))
    return { requests, once: ask(requests) }
  })
}

const measure = Effect.fnUntraced(function* (
  route: ReadRoute,
  {
    barePort,
    pid,
    port,
    send
  }: { readonly barePort: number; readonly pid: number; readonly port: number; readonly send: Send }
) {
  const own = yield* asking(send, port, route.request, whole.has(route.name))
  const other = yield* route.rows === undefined
    ? asking(send, port, discovery)
    : asking(send, barePort, bareRequest(route.rows))
  const ratios: Array<number> = []
  const rates: Array<number> = []
  const millis: Array<number> = []
  const otherMillis: Array<number> = []
  let processor = 0
  let waiting = 0
  let lasted = 0
  for (let round = 0; round < rounds; round++) {
    const theirs = yield* other.once
    const before = yield* threadTimes(pid)
    const ours = yield* own.once
    const after = yield* threadTimes(pid)
    processor += after.processor - before.processor
    waiting += after.waiting - before.waiting
    lasted += (own.requests / ours.perSecond) * 1000
    ratios.push(ours.perSecond / theirs.perSecond)
    rates.push(ours.perSecond)
    millis.push(...ours.millis)
    otherMillis.push(...theirs.millis)
  }
  const measured: Measured = {
    route,
    perSecond: median(rates),
    ratio: median(ratios),
    processorMillis: processor / (own.requests * rounds),
    p50: median(millis),
    tail: tailOf(millis),
    otherTail: tailOf(otherMillis),
    waited: waiting / lasted
  }
  return measured
})

const steadiness = ({ otherTail, waited }: Measured) =>
  `its comparison ${otherTail.toFixed(1)} x, waiting for a core ${(waited * 100).toFixed(0)} % of the time`

const detailOf = (one: Measured) =>
  `${one.perSecond.toFixed(0)}/s, processor ${(one.processorMillis * 1000).toFixed(0)} µs, p50 ${one.p50.toFixed(1)} ms, p99 ${one.tail.toFixed(1)} x of it (${steadiness(one)})`

const slowest = (name: string, of: ReadonlyArray<Measured>): Figure => {
  const [first] = [...of].sort((a, b) => a.ratio - b.ratio)
  return {
    name,
    figure: first?.ratio ?? Number.NaN,
    unit: "x",
    detail: `${first?.route.name}; median of ${of.length} routes ${median(of.map(({ ratio }) => ratio)).toFixed(2)} x`
  }
}

/** Every GET route in the API, each compared with an upper bound. */
export const reads = (binary: string) =>
  Effect.gen(function* () {
    const world = yield* readWorld([binary])
    const { pid, port } = world.product
    const { barePid, barePort } = yield* bareServer(world.product.dataDir)
    const { hasPriority, send } = yield* loadClient([pid, barePid])
    const measured: Array<Measured> = []
    for (const route of readRoutes(world)) measured.push(yield* measure(route, { barePort, pid, port, send }))
    const named = (name: string) => measured.find(({ route }) => route.name === name)
    const overview = named("dashboard.overview")
    const modules = named("sources.installModules")
    const ordinary = measured.filter(({ route }) => !whole.has(route.name))
    const [unsteady] = [...ordinary].sort((a, b) => b.tail - a.tail)
    const figures: ReadonlyArray<Figure> = [
      ...measured.map(
        (one): Figure => ({
          name: `${one.route.name} against ${one.route.rows === undefined ? "discovery" : `bare rows of ${one.route.rows.table}`}`,
          figure: one.ratio,
          unit: "x",
          detail: detailOf(one)
        })
      ),
      slowest(
        "one record against the discovery document: the slowest route",
        ordinary.filter(({ route }) => route.rows === undefined)
      ),
      slowest(
        "49 rows against bare Bun and SQLite: the slowest route",
        ordinary.filter(({ route }) => route.rows !== undefined)
      ),
      {
        name: "dashboard overview: processor time",
        figure: overview?.processorMillis ?? Number.NaN,
        unit: "ms",
        target: { atMost: 4 }
      },
      {
        name: "modules of a repository with 133, asked again",
        figure: modules?.p50 ?? Number.NaN,
        unit: "ms",
        target: { atMost: 500 },
        detail: "one at a time"
      },
      {
        name: "p99 at ten connections against p50: the unsteadiest route",
        figure: unsteady?.tail ?? Number.NaN,
        unit: "x",
        target: { atMost: steady },
        ...(unsteady === undefined
          ? {}
          : {
              detail: `${unsteady.route.name}, ${steadiness(unsteady)}; ${ordinary.filter(({ tail }) => tail <= steady).length} of ${ordinary.length} routes reach it, their median ${median(ordinary.map(({ tail }) => tail)).toFixed(1)} x; ${hasPriority ? "at" : "not permitted to run at"} real-time priority`
            })
      }
    ]
    return figures
  }).pipe(Effect.scoped)
