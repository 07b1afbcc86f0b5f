import { connect, createServer, type Server, type Socket } from "node:net"
import { Effect } from "effect"

/** Gives a server an address that does not respond while the server is `away`. */
export const awayServer = (upstream: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const port = Number(new URL(upstream).port)
      const listen = (at: number) =>
        new Promise<Server>((resolve) => {
          const server = createServer((client) => {
            const target = connect(port, "127.0.0.1")
            for (const socket of [client, target]) {
              sockets.add(socket)
              socket.on("error", () => socket.destroy())
              socket.on("close", () => sockets.delete(socket))
            }
            client.pipe(target).pipe(client)
          })
          server.listen(at, "127.0.0.1", () => resolve(server))
        })
      const portOf = (server: Server) => {
        const address = server.address()
        return typeof address === "object" && address !== null ? address.port : 0
      }
      let server = await listen(0)
      const at = portOf(server)
      const leave = () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          for (const socket of sockets) socket.destroy()
        })
      return {
        url: `http://127.0.0.1:${at}`,
        /** Ends every connection and refuses new connections. */
        leaves: Effect.promise(leave),
        returns: Effect.promise(async () => {
          server = await listen(at)
        }),
        leave
      }
    }),
    ({ leave }) => Effect.promise(leave)
  )
