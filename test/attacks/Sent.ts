import { createHmac } from "node:crypto"
import { connect } from "node:net"
import { Effect } from "effect"

let from = 0
/**
 * Uses a new client address for each request, as if the trusted proxy had reported it, so that limits per address do not stop the
 * attack.
 */
export const fromAnywhere = () => {
  from += 1
  return { "x-forwarded-for": `198.${18 + ((from >> 16) & 1)}.${(from >> 8) & 255}.${from & 255}` }
}

/** Sends a request and returns its status, or 0 if the connection is cut. */
export const sent = (url: string, init: RequestInit) =>
  Effect.promise(async () => {
    try {
      // Never reuses a connection, because the server would read the rest of an early refused body as the next request.
      const answer = await fetch(url, { ...init, headers: { connection: "close", ...fromAnywhere(), ...init.headers } })
      await answer.arrayBuffer()
      return answer.status
    } catch {
      return 0
    }
  })

/** Sends this many requests, with at most `atOnce` at the same time, and returns how often each status occurred. */
export const flood = (count: number, atOnce: number, one: (index: number) => Effect.Effect<number>) =>
  Effect.map(
    Effect.forEach(Array.from({ length: count }), (_, index) => one(index), { concurrency: atOnce }),
    (statuses) => Map.groupBy(statuses, (status) => status)
  )

/**
 * Opens connections that send a head and then one byte of the body every 100 ms for this many seconds. Then closes the
 * connections.
 */
export const trickled = ({
  url,
  path,
  headers,
  count,
  seconds
}: {
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly count: number
  readonly seconds: number
}) =>
  Effect.gen(function* () {
    const { hostname, port } = new URL(url)
    const sockets = yield* Effect.acquireRelease(
      Effect.sync(() =>
        Array.from({ length: count }, () => {
          const given = { host: `${hostname}:${port}`, "content-length": "60000", ...fromAnywhere(), ...headers }
          const head = Object.entries(given).map(([name, value]) => `${name}: ${value}\r\n`)
          const socket = connect({ host: hostname, port: Number(port) })
          socket.on("error", () => {})
          socket.write(`POST ${path} HTTP/1.1\r\n${head.join("")}\r\n`)
          return socket
        })
      ),
      (opened) => Effect.sync(() => opened.forEach((socket) => socket.destroy()))
    )
    for (let step = 0; step < seconds * 10; step += 1) {
      for (const socket of sockets) if (socket.writable) socket.write(" ")
      yield* Effect.sleep("100 millis")
    }
    return count
  }).pipe(Effect.scoped)

export const signatureOf = (secret: string, body: string) =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
