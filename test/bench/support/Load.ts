import { Effect, Queue, Schema, Semaphore, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { atRealTimePriority } from "./RealTimePriority.ts"

/** A server did not return the expected response. */
export class LoadFailed extends Schema.TaggedError<LoadFailed>()("LoadFailed", { message: Schema.String }) {}

export interface Load {
  readonly port: number
  /** Sends prepared bytes, so that the client costs little compared with the server. */
  readonly request: string
  readonly connections: number
  readonly requests: number
}

export interface Measured {
  readonly perSecond: number
  /** The time from each request to the end of its response, in the order of the responses. */
  readonly millis: ReadonlyArray<number>
}

const client = fileURLToPath(new URL("LoadClient.ts", import.meta.url))

const Result = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ seconds: Schema.Finite, millis: Schema.Array(Schema.Finite) }),
    Schema.Struct({ failure: Schema.String })
  ])
)
const decodeResult = Schema.decodeEffect(Result)

/**
 * Measures load on `servers` (process ids) from a separate process until the Scope closes. Repeats one request over
 * kept-alive connections, one request at a time on each connection, and records the duration of each response. `hasPriority`
 * is true if the client and the servers run at a real-time priority.
 */
export const loadClient = Effect.fn("loadClient")(function* (servers: ReadonlyArray<number>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const asked = yield* Queue.unbounded<string>()
  const results = yield* Queue.unbounded<string>()
  const alone = yield* Semaphore.make(1)
  const stdin = Stream.fromQueue(asked).pipe(Stream.encodeText)
  const process_ = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [client], { extendEnv: true, stdin, stderr: "inherit" })
  )
  yield* Stream.decodeText(process_.stdout).pipe(
    Stream.splitLines,
    Stream.runForEach((line) => Queue.offer(results, line)),
    Effect.forkScoped
  )
  const hasPriority = yield* atRealTimePriority([...servers, process_.pid])
  const send = (load: Load): Effect.Effect<Measured, LoadFailed> =>
    Effect.gen(function* () {
      yield* Queue.offer(asked, `${JSON.stringify(load)}\n`)
      const result = yield* Effect.orDie(decodeResult(yield* Queue.take(results)))
      if ("failure" in result) return yield* new LoadFailed({ message: result.failure })
      return { perSecond: load.requests / result.seconds, millis: result.millis }
    }).pipe(alone.withPermits(1))
  return { send, hasPriority }
})
