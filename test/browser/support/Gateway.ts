import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/**
 * Creates a network link between the browser and the server. Its port stays the same when a test replaces the server.
 * Cutting it drops every connection and refuses new connections.
 */
export const gateway = Effect.gen(function* () {
  const sockets = new Set<Socket>()
  let target: number | undefined
  let whole = true
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => sockets.delete(socket))
    return socket
  }
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((outer) => {
    keep(outer)
    if (!whole || target === undefined) return outer.destroy()
    const inner = keep(connect(target, "127.0.0.1"))
    outer.on("close", () => inner.destroy())
    inner.on("close", () => outer.destroy())
    outer.pipe(inner)
    inner.pipe(outer)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        drop()
        server.close()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    /** Uses a host name, because passkeys do not work with IP addresses. */
    origin: `http://localhost:${port}`,
    leadTo: (next: number) => {
      target = next
    },
    cut: Effect.sync(() => {
      whole = false
      drop()
    }),
    restore: Effect.sync(() => {
      whole = true
    })
  }
})
