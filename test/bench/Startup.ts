import { Clock, Effect, FileSystem } from "effect"
import { type Figure, median } from "./support/Figures.ts"
import { startServer } from "./support/Product.ts"

const rounds = 7
const settle = "6 seconds"

const readyAfter = Effect.fn("readyAfter")(function* (binary: string) {
  const files = yield* FileSystem.FileSystem
  const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-start-" })
  const started = yield* Clock.currentTimeMillis
  const { url } = yield* startServer({ dataDir, program: [binary] })
  const answer = yield* Effect.promise(() => fetch(`${url}/readyz`))
  if (answer.status !== 200) return Number.NaN
  return (yield* Clock.currentTimeMillis) - started
}, Effect.scoped)

/** The binary on a new data folder: time to the first 200 of a route with a database read, and what it holds when idle. */
export const startup = (binary: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    yield* readyAfter(binary)
    const times: Array<number> = []
    for (let round = 0; round < rounds; round++) times.push(yield* readyAfter(binary))
    const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-idle-" })
    const { pid } = yield* startServer({ dataDir, program: [binary] })
    yield* Effect.sleep(settle)
    const status = yield* files.readFileString(`/proc/${pid}/status`)
    const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
    const figures: ReadonlyArray<Figure> = [
      {
        name: "start of the binary to the first 200, new data folder",
        figure: median(times),
        unit: "ms",
        target: { atMost: 200 },
        detail: `fastest ${Math.min(...times)} ms`
      },
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
