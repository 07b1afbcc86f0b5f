import { Clock, Effect, FileSystem } from "effect"
import { type Figure, median } from "./support/Figures.ts"
import { startServer } from "./support/Product.ts"

const rounds = 7
const idle = "6 seconds"
const millisecondsPerTick = 10

/** Returns the CPU time of a process, in milliseconds. */
const processorTime = Effect.fnUntraced(function* (pid: number) {
  const files = yield* FileSystem.FileSystem
  // The text after the name in brackets starts with the third field; user and system time are fields 14 and 15.
  const fields = (yield* files.readFileString(`/proc/${pid}/stat`)).split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick
})

/** Measures a first startup until the issuer has its keys. The service responds to requests while it generates the keys. */
const settle = Effect.fn("settle")(function* (binary: string, dataDir: string) {
  const { url } = yield* startServer({ dataDir, program: [binary] })
  yield* Effect.promise(() => fetch(`${url}/oauth/jwks`).then((answer) => answer.json()))
}, Effect.scoped)

/** Measures one startup, until a route that reads the database returns 200, and one shutdown. */
const startAndStop = Effect.fn("startAndStop")(function* (binary: string, dataDir: string) {
  const started = yield* Clock.currentTimeMillis
  const found = yield* Effect.scoped(
    Effect.gen(function* () {
      const { pid, url } = yield* startServer({ dataDir, program: [binary] })
      const answer = yield* Effect.promise(() => fetch(`${url}/readyz`))
      const ready = answer.status === 200 ? (yield* Clock.currentTimeMillis) - started : Number.NaN
      return { ready, busy: yield* processorTime(pid), stopping: yield* Clock.currentTimeMillis }
    })
  )
  return { ready: found.ready, busy: found.busy, stopped: (yield* Clock.currentTimeMillis) - found.stopping }
})

type Start = Effect.Success<ReturnType<typeof startAndStop>>

const figureOf = (name: string, starts: ReadonlyArray<Start>): Figure => {
  const times = starts.map(({ ready }) => ready)
  return {
    name,
    figure: median(times),
    unit: "ms",
    target: { atMost: 200 },
    detail: `fastest ${Math.min(...times)} ms, ${median(starts.map(({ busy }) => busy))} ms of processor time; stopped in ${median(starts.map(({ stopped }) => stopped))} ms`
  }
}

/** Measures the binary on a new and an existing data folder: the time to the first 200, and idle memory. */
export const startup = (binary: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const newFolder = files.makeTempDirectoryScoped({ prefix: "svc-bench-start-" })
    const known = yield* newFolder
    yield* settle(binary, known)
    const first: Array<Start> = []
    const later: Array<Start> = []
    for (let round = 0; round < rounds; round++) {
      first.push(yield* startAndStop(binary, yield* newFolder))
      later.push(yield* startAndStop(binary, known))
    }
    const { pid } = yield* startServer({ dataDir: yield* newFolder, program: [binary] })
    yield* Effect.sleep(idle)
    const status = yield* files.readFileString(`/proc/${pid}/status`)
    const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
    const figures: ReadonlyArray<Figure> = [
      figureOf("start of the binary to the first 200, new data folder", first),
      figureOf("the same, existing data folder", later),
      {
        name: "resident memory of the idle binary",
        figure: megabytes("VmRSS"),
        unit: "MB",
        target: { atMost: 120 },
        detail: `${megabytes("RssAnon").toFixed(0)} MB of it its own, the rest pages of the file`
      }
    ]
    return figures
  }).pipe(Effect.scoped)
