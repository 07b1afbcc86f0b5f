import { Effect, Random, Redacted, Schema } from "effect"
import { WebSocket } from "ws"
import { RunEvent, RunLogEntry } from "../../schema/events/RunEvent.ts"

const Frame = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ events: Schema.Array(RunEvent) }),
    Schema.Struct({ entries: Schema.Array(RunLogEntry) }),
    Schema.Struct({ done: Schema.Literal(true) }),
    Schema.Struct({ resumeAfter: Schema.Int })
  ])
)
const decode = Schema.decodeUnknownSync(Frame)

export type Transport = "websocket" | "sse"
export type Sequence = "events" | "logs"

/** The data that a connection delivered before it was closed or dropped. */
interface Reading {
  readonly seqs: ReadonlyArray<number>
  readonly done: boolean
}

interface Connection {
  readonly url: string
  readonly token: Redacted.Redacted
  readonly runId: string
  readonly sequence: Sequence
  readonly after: number
  /** The number of frames to read before the client disconnects. */
  readonly frames: number
  /** Milliseconds after the first frame during which nothing is read. */
  readonly stall: number
}

const take = (text: string, seqs: Array<number>): boolean => {
  const frame = decode(text)
  if ("events" in frame) seqs.push(...frame.events.map(({ seq }) => seq))
  if ("entries" in frame) seqs.push(...frame.entries.map(({ seq }) => seq))
  return "done" in frame
}

const readSocket = ({ after, frames, runId, sequence, stall, token, url }: Connection) =>
  Effect.callback<Reading>((resume) => {
    const seqs: Array<number> = []
    let done = false
    let taken = 0
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/v1/runs/${runId}/${sequence}?after=${after}`, {
      headers: { authorization: `Bearer ${Redacted.value(token)}` }
    })
    socket.on("message", (data) => {
      if (taken >= frames) return
      taken++
      done = take(data.toString(), seqs)
      if (taken === 1 && stall > 0) {
        socket.pause()
        setTimeout(() => socket.resume(), stall)
      }
      // Drops the connection without closing it, as in a network failure.
      if (taken >= frames && !done) socket.terminate()
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed({ seqs, done })))
    return Effect.sync(() => socket.terminate())
  })

const readEventSource = ({ after, frames, runId, sequence, stall, token, url }: Connection) =>
  Effect.promise(async (signal): Promise<Reading> => {
    const seqs: Array<number> = []
    let taken = 0
    try {
      const response = await fetch(`${url}/api/v1/runs/${runId}/${sequence}`, {
        signal,
        headers: {
          accept: "text/event-stream",
          authorization: `Bearer ${Redacted.value(token)}`,
          "last-event-id": String(after)
        }
      })
      let text = ""
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true })
        const messages = text.split("\n\n")
        text = messages.pop() ?? ""
        for (const message of messages) {
          const data = message.split("\n").find((line) => line.startsWith("data: "))
          if (data === undefined) continue
          taken++
          if (take(data.slice("data: ".length), seqs)) return { seqs, done: true }
          if (taken === 1 && stall > 0) await Bun.sleep(stall)
          if (taken >= frames) return { seqs, done: false }
        }
      }
    } catch {
      // The server was killed, but the data read before the kill is kept.
    }
    return { seqs, done: false }
  })

/**
 * Reads one stream to its end from the current server, through connections that drop, stall and resume at random. Returns every
 * sequence number in order of arrival.
 */
export const readToTheEnd = Effect.fn("readToTheEnd")(function* <E>(options: {
  readonly server: Effect.Effect<{ readonly url: string }, E>
  readonly token: Redacted.Redacted
  readonly runId: string
  readonly sequence: Sequence
  readonly transport: Transport
}) {
  const received: Array<number> = []
  let connections = 0
  for (;;) {
    const { url } = yield* options.server
    const connection: Connection = {
      url,
      token: options.token,
      runId: options.runId,
      sequence: options.sequence,
      after: received.at(-1) ?? 0,
      frames: 1 + (yield* Random.nextIntBetween(0, 12)),
      stall: (yield* Random.nextBoolean) ? yield* Random.nextIntBetween(1, 80) : 0
    }
    connections++
    const read = options.transport === "websocket" ? readSocket : readEventSource
    const { done, seqs } = yield* read(connection)
    received.push(...seqs)
    if (done) return { received, connections }
    if (seqs.length === 0) yield* Effect.sleep("20 millis")
  }
})
