import { Effect, FileSystem, Option, Redacted, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { type Figure, median } from "./support/Figures.ts"
import { load } from "./support/Load.ts"
import { startProduct } from "./support/Product.ts"

const rounds = 5
const shape = { connections: 32, requests: 10_000 }
// Half a second of load: before that, much of the time goes into compiling the code, on both sides.
const warmUp = 20_000
const bare = fileURLToPath(new URL("support/BareServer.ts", import.meta.url))

// Kernel clock ticks; every Linux has a hundred per second.
const microsPerTick = 10_000

/** Microseconds of processor time that a process has used. */
const processorTime = Effect.fnUntraced(function* (pid: number) {
  const files = yield* FileSystem.FileSystem
  const status = yield* files.readFileString(`/proc/${pid}/stat`)
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) * microsPerTick
})

/** One row through the API, authenticated and authorised, against a bare route with the same query. */
export const reads = (binary: string) =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const product = yield* startProduct([], [binary])
    const { projects } = yield* product.client.workspaces.projects({
      params: { workspaceId: product.workspaceId },
      query: {}
    })
    const path = `/api/v1/projects/${projects[0]?.id ?? ""}`
    const process_ = yield* spawner.spawn(
      ChildProcess.make(process.execPath, [bare, `${product.dataDir}/svc.sqlite`], {
        extendEnv: true,
        stderr: "inherit"
      })
    )
    const line = yield* Stream.decodeText(process_.stdout).pipe(Stream.splitLines, Stream.runHead)
    const request = (headers: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`
    const ofBare = { ...shape, port: Number(Option.getOrThrow(line)), request: request("") }
    const authorization = `authorization: Bearer ${Redacted.value(product.token)}\r\n`
    const ofProduct = { ...shape, port: product.port, request: request(authorization) }
    yield* load({ ...ofBare, requests: warmUp })
    yield* load({ ...ofProduct, requests: warmUp })
    const perRequest = (pid: number, before: number) =>
      Effect.map(processorTime(pid), (now) => `${((now - before) / (shape.requests * rounds)).toFixed(0)} µs`)
    const ownBefore = yield* processorTime(product.pid)
    const bareBefore = yield* processorTime(process_.pid)
    const ratios: Array<number> = []
    const rates: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const raw = yield* load(ofBare)
      const own = yield* load(ofProduct)
      rates.push(own)
      ratios.push(own / raw)
    }
    const own = yield* perRequest(product.pid, ownBefore)
    const theirs = yield* perRequest(process_.pid, bareBefore)
    const figure: Figure = {
      name: "one-row read through the API against a bare route",
      figure: median(ratios),
      unit: "x",
      target: { atLeast: 0.5 },
      detail: `${median(rates).toFixed(0)} requests/s; processor time a request ${own} against ${theirs}`
    }
    return [figure]
  }).pipe(Effect.scoped)
