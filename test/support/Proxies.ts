import { connect, createServer } from "node:net"
import { Effect } from "effect"

/** Turns off Bun's own timeout, which would cut off a long poll. */
const idleSeconds = 60

/** Starts a reverse proxy that terminates TLS for a server and forwards only complete requests and responses. */
export const bufferingProxy = (upstream: string, tls: { readonly cert: string; readonly key: string }) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        tls,
        idleTimeout: idleSeconds,
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        fetch: async (request) => {
          const { pathname } = new URL(request.url)
          const body = request.method === "GET" ? undefined : await request.arrayBuffer()
          const headers = new Headers(request.headers)
          headers.delete("host")
          const answer = await fetch(`${upstream}${pathname}`, {
            method: request.method,
            headers,
            ...(body === undefined ? {} : { body })
          })
          return new Response(await answer.arrayBuffer(), { status: answer.status })
        },
        error: () => new Response("", { status: 502 })
      })
    ),
    (server) => Effect.promise(() => server.stop(true))
  )

interface ConnectProxy {
  readonly port: number
  /** The destinations that clients requested. */
  readonly tunnels: Array<string>
  readonly close: () => void
}

/**
 * Starts a proxy that only tunnels. The proxy connects every destination to a port on this machine that cannot be reached
 * otherwise.
 */
export const connectProxy = (toPort: number) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<ConnectProxy>((resolve) => {
          const tunnels: Array<string> = []
          const server = createServer((client) => {
            client.once("data", (head) => {
              const [, destination = ""] = /^CONNECT (\S+)/.exec(head.toString("latin1")) ?? []
              tunnels.push(destination)
              const target = connect(toPort, "127.0.0.1", () => {
                client.write("HTTP/1.1 200 Connection established\r\n\r\n")
                client.pipe(target).pipe(client)
              })
              target.on("error", () => client.destroy())
            })
            client.on("error", () => undefined)
          })
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" && address !== null ? address.port : 0
            resolve({ port, tunnels, close: () => server.close() })
          })
        })
    ),
    ({ close }) => Effect.sync(close)
  )
