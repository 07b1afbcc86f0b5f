import { Deferred, Effect, Option, Queue, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { WebSocket } from "ws"
import { type Figure, median, percentile } from "./support/Figures.ts"

const subscribers = 500
const paced = 150
const burst = 200
const rounds = 3
const program = fileURLToPath(new URL("support/StreamServer.ts", import.meta.url))

const Ready = Schema.fromJsonString(
  Schema.Struct({ url: Schema.String, barePort: Schema.Int, runId: Schema.String, token: Schema.String })
)
const Frame = Schema.fromJsonString(
  Schema.Struct({
    // Absent if the server closed the stream.
    events: Schema.optionalKey(
      Schema.Array(Schema.Struct({ data: Schema.Struct({ elapsedSeconds: Schema.optionalKey(Schema.Finite) }) }))
    )
  })
)
const decodeReady = Schema.decodeEffect(Ready)
const decodeFrame = Schema.decodeSync(Frame)

const now = () => performance.timeOrigin + performance.now()

/**
 * Opens sockets that count messages. `expect` completes with the delays in milliseconds after each socket has received that many
 * messages.
 */
const crowd = Effect.fn("crowd")(function* (url: string, headers: Readonly<Record<string, string>>) {
  let delays: Array<number> = []
  let wanted = Number.POSITIVE_INFINITY
  let complete: (() => void) | undefined
  const receive = (text: string) => {
    for (const { data } of decodeFrame(text).events ?? [])
      if (data.elapsedSeconds !== undefined) delays.push(now() - data.elapsedSeconds)
    if (delays.length >= wanted) complete?.()
  }
  yield* Effect.forEach(
    Array.from({ length: subscribers }, (_, index) => index),
    () =>
      Effect.acquireRelease(
        Effect.callback<WebSocket>((resume) => {
          const socket = new WebSocket(url, { headers })
          socket.on("message", (data) => receive(data.toString()))
          socket.on("open", () => resume(Effect.succeed(socket)))
        }),
        (socket) => Effect.sync(() => socket.close())
      ),
    { concurrency: 50, discard: true }
  )
  const expect = (events: number, start: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<void>()
      delays = []
      wanted = events * subscribers
      complete = () => Deferred.doneUnsafe(done, Effect.void)
      const began = now()
      yield* start
      const whole = yield* Deferred.await(done).pipe(Effect.timeoutOption("60 seconds"))
      return { delays, millis: now() - began, lost: Option.isSome(whole) ? 0 : wanted - delays.length }
    })
  return { expect }
})

/**
 * Measures many subscribers to one Run: delay and loss at 50 events per second, and the duration of a burst compared with
 * publishing the same messages on a minimal server.
 */
export const streams = Effect.gen(function* () {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const commands = yield* Queue.unbounded<string>()
  const server = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [program], {
      extendEnv: true,
      stderr: "inherit",
      stdin: Stream.fromQueue(commands).pipe(Stream.map((line) => new TextEncoder().encode(`${line}\n`)))
    })
  )
  const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
  const { barePort, runId, token, url } = yield* decodeReady(Option.getOrThrow(line))
  const tell = (command: string) => Effect.asVoid(Queue.offer(commands, command))

  const own = yield* crowd(`${url.replace("http", "ws")}/api/v1/runs/${runId}/events`, {
    authorization: `Bearer ${token}`
  })
  const p99s: Array<number> = []
  const p50s: Array<number> = []
  let lost = 0
  for (let round = 0; round < rounds; round++) {
    const steady = yield* own.expect(paced, tell(`paced ${paced}`))
    p99s.push(percentile(steady.delays, 0.99))
    p50s.push(percentile(steady.delays, 0.5))
    lost += steady.lost
  }
  const bare = yield* crowd(`ws://127.0.0.1:${barePort}/`, {})
  const ratios: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const theirs = yield* bare.expect(burst, tell(`bare ${burst}`))
    const ours = yield* own.expect(burst, tell(`burst ${burst}`))
    lost += ours.lost
    ratios.push(theirs.millis / ours.millis)
  }
  const figures: ReadonlyArray<Figure> = [
    {
      name: `${subscribers} subscribers, 50 events a second: p99 delivery`,
      figure: median(p99s),
      unit: "ms",
      target: { atMost: 50 },
      detail: `p50 ${median(p50s).toFixed(1)} ms`
    },
    { name: "the same: events lost", figure: lost, unit: "lost", target: { atMost: 0 } },
    {
      name: `burst of ${burst} events to ${subscribers} against a bare publish`,
      figure: median(ratios),
      unit: "x",
      target: { atLeast: 0.5 }
    }
  ]
  return figures
}).pipe(Effect.scoped)
