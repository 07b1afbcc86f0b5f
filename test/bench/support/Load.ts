import { Clock, Effect, Schema } from "effect"

/** A server returned something other than the requested answer. */
export class LoadFailed extends Schema.TaggedError<LoadFailed>()("LoadFailed", { message: Schema.String }) {}

export interface Load {
  readonly port: number
  /** The whole request, byte by byte, so that the client's cost is negligible beside the server's. */
  readonly request: string
  readonly connections: number
  readonly requests: number
}

export interface Measured {
  readonly perSecond: number
  /** Time from each request to the end of its answer, in the order of the answers. */
  readonly millis: ReadonlyArray<number>
}

interface Waiting {
  buffer: string
  sentAt: number
}

const headEnd = "\r\n\r\n"

/**
 * Sends the same request over kept-alive connections, one at a time on each, and records the duration of each answer.
 */
export const measureLoad = Effect.fn("measureLoad")(function* ({ connections, port, request, requests }: Load) {
  const started = yield* Clock.currentTimeNanos
  const millis: Array<number> = []
  yield* Effect.callback<void, LoadFailed>((resume) => {
    let sent = 0
    const sockets: Array<Bun.Socket<Waiting>> = []
    const finish = (result: Effect.Effect<void, LoadFailed>) => {
      for (const socket of sockets) socket.end()
      resume(result)
    }
    const next = (socket: Bun.Socket<Waiting>) => {
      if (sent >= requests) return
      sent++
      socket.data.sentAt = performance.now()
      socket.write(request)
    }
    for (let index = 0; index < connections; index++) {
      void Bun.connect<Waiting>({
        hostname: "127.0.0.1",
        port,
        data: { buffer: "", sentAt: 0 },
        socket: {
          open: (socket) => {
            sockets.push(socket)
            next(socket)
          },
          data: (socket, bytes) => {
            const text = socket.data.buffer + bytes.toString("latin1")
            const end = text.indexOf(headEnd)
            const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
            if (end === -1 || length === undefined || text.length < end + headEnd.length + Number(length)) {
              socket.data.buffer = text
              return
            }
            socket.data.buffer = ""
            if (!text.startsWith("HTTP/1.1 2"))
              return finish(
                Effect.fail(new LoadFailed({ message: `${request.split("\r")[0]}: ${text.slice(0, 600)}` }))
              )
            millis.push(performance.now() - socket.data.sentAt)
            if (millis.length === requests) return finish(Effect.void)
            next(socket)
          },
          error: (_, error) => finish(Effect.fail(new LoadFailed({ message: String(error) })))
        }
      })
    }
  })
  const seconds = Number((yield* Clock.currentTimeNanos) - started) / 1e9
  const measured: Measured = { perSecond: requests / seconds, millis }
  return measured
})

/** The same, returning only the number of requests per second. */
export const load = (options: Load): Effect.Effect<number, LoadFailed> =>
  Effect.map(measureLoad(options), ({ perSecond }) => perSecond)
