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

const headEnd = "\r\n\r\n"

/** Sends the same request over kept-alive connections, one at a time on each; returns requests per second. */
export const load = Effect.fn("load")(function* ({ connections, port, request, requests }: Load) {
  const started = yield* Clock.currentTimeNanos
  yield* Effect.callback<void, LoadFailed>((resume) => {
    let sent = 0
    let answered = 0
    const sockets: Array<Bun.Socket<{ buffer: string }>> = []
    const finish = (result: Effect.Effect<void, LoadFailed>) => {
      for (const socket of sockets) socket.end()
      resume(result)
    }
    const next = (socket: Bun.Socket<{ buffer: string }>) => {
      if (sent >= requests) return
      sent++
      socket.write(request)
    }
    for (let index = 0; index < connections; index++) {
      void Bun.connect<{ buffer: string }>({
        hostname: "127.0.0.1",
        port,
        data: { buffer: "" },
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
              return finish(Effect.fail(new LoadFailed({ message: text.slice(0, 300) })))
            answered++
            if (answered === requests) return finish(Effect.void)
            next(socket)
          },
          error: (_, error) => finish(Effect.fail(new LoadFailed({ message: String(error) })))
        }
      })
    }
  })
  const seconds = Number((yield* Clock.currentTimeNanos) - started) / 1e9
  return requests / seconds
})
