import { Effect, FileSystem, Option, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { type Figure, median, percentile } from "./support/Figures.ts"
import { type Load, loadClient, type LoadFailed, type Measured as Loaded } from "./support/Load.ts"
import { type ReadRoute, readRoutes } from "./support/ReadRoutes.ts"
import { listed, readWorld } from "./support/ReadWorld.ts"

const rounds = 5
const connections = 10
// As long as the measured load, and as much before it: before that, much of the time goes into compiling the code.
const loadSeconds = 0.2
const warmUpSeconds = 0.6
// On a busy machine too few answers arrive within that time for anything to be compiled.
const fewestToWarm = 500
const fewest = 60
const bare = fileURLToPath(new URL("support/BareServer.ts", import.meta.url))

// Kernel clock ticks; every Linux has a hundred per second.
const millisPerTick = 10

/** Milliseconds of processor time used by a process. */
const processorTime = Effect.fnUntraced(function* (pid: number) {
  const files = yield* FileSystem.FileSystem
  const status = yield* files.readFileString(`/proc/${pid}/stat`)
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) * millisPerTick
})

interface Measured {
  readonly route: ReadRoute
  readonly perSecond: number
  /** As a ratio to the comparison: the discovery document, or the same rows from a bare server. */
  readonly ratio: number
  /** The server's processor time per request. */
  readonly processorMillis: number
  readonly p50: number
  readonly p99: number
}

// They return much more than one record or one list, and have separate targets.
const whole: ReadonlySet<string> = new Set(["dashboard.overview", "sources.installModules"])

const bareServer = Effect.fnUntraced(function* (dataDir: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const process_ = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [bare, `${dataDir}/svc.sqlite`], { extendEnv: true, stderr: "inherit" })
  )
  const line = yield* Stream.decodeText(process_.stdout).pipe(Stream.splitLines, Stream.runHead)
  return Number(Option.getOrThrow(line))
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
  let processor = 0
  for (let round = 0; round < rounds; round++) {
    const theirs = yield* other.once
    const before = yield* processorTime(pid)
    const ours = yield* own.once
    processor += (yield* processorTime(pid)) - before
    ratios.push(ours.perSecond / theirs.perSecond)
    rates.push(ours.perSecond)
    millis.push(...ours.millis)
  }
  const measured: Measured = {
    route,
    perSecond: median(rates),
    ratio: median(ratios),
    processorMillis: processor / (own.requests * rounds),
    p50: median(millis),
    p99: percentile(millis, 0.99)
  }
  return measured
})

const detailOf = ({ p50, p99, perSecond, processorMillis }: Measured) =>
  `${perSecond.toFixed(0)}/s, processor ${(processorMillis * 1000).toFixed(0)} µs, p50 ${p50.toFixed(1)} ms, p99 ${(p99 / p50).toFixed(1)} x of it`

const slowest = (name: string, of: ReadonlyArray<Measured>, target: number): Figure => {
  const [first] = [...of].sort((a, b) => a.ratio - b.ratio)
  const met = of.filter(({ ratio }) => ratio >= target).length
  return {
    name,
    figure: first?.ratio ?? Number.NaN,
    unit: "x",
    target: { atLeast: target },
    detail: `${first?.route.name}; ${met} of ${of.length} routes reach it, their median ${median(of.map(({ ratio }) => ratio)).toFixed(2)} x`
  }
}

/** Every GET route of the API, each against its upper bound. */
export const reads = (binary: string) =>
  Effect.gen(function* () {
    const world = yield* readWorld([binary])
    const { pid, port } = world.product
    const send = yield* loadClient
    const barePort = yield* bareServer(world.product.dataDir)
    const measured: Array<Measured> = []
    for (const route of readRoutes(world)) measured.push(yield* measure(route, { barePort, pid, port, send }))
    const named = (name: string) => measured.find(({ route }) => route.name === name)
    const overview = named("dashboard.overview")
    const modules = named("sources.installModules")
    const ordinary = measured.filter(({ route }) => !whole.has(route.name))
    const unsteady = [...ordinary].sort((a, b) => b.p99 / b.p50 - a.p99 / a.p50)[0]
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
        ordinary.filter(({ route }) => route.rows === undefined),
        0.5
      ),
      slowest(
        "49 rows against bare Bun and SQLite: the slowest route",
        ordinary.filter(({ route }) => route.rows !== undefined),
        0.35
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
        figure: unsteady === undefined ? Number.NaN : unsteady.p99 / unsteady.p50,
        unit: "x",
        target: { atMost: 5 },
        detail: `${unsteady?.route.name}`
      }
    ]
    return figures
  }).pipe(Effect.scoped)
