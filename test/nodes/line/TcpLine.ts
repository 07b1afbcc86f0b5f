import { connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net"
import { Effect } from "effect"

/** One direction of a connection: bytes that arrived and have not been forwarded. */
interface Pump {
  readonly from: Socket
  readonly to: Socket
  readonly held: Array<Buffer>
  /** The sender closed the connection while the line was stopped. */
  hasEnded: boolean
}

/**
 * Opens a line between two programs, which forwards bytes in both directions.
 * - `cut`: closes every connection and refuses new connections, like a machine that responds with a reset
 * - `stop`: forwards no bytes but keeps connections open, like a network that drops packets; held bytes are delivered when
 *   the line resumes
 * - `delay`: every chunk of bytes arrives this many milliseconds later
 */
export const tcpLine = Effect.fn("tcpLine")(function* (target: () => NetConnectOpts) {
  const pumps = new Set<Pump>()
  const sockets = new Set<Socket>()
  const waiting: Array<Socket> = []
  let isCut = false
  let isStopped = false
  let delay = 0

  const deliver = (pump: Pump) => {
    for (const bytes of pump.held.splice(0)) if (!pump.to.destroyed) pump.to.write(bytes)
    if (pump.hasEnded) pump.to.destroy()
  }
  const pass = (pump: Pump, bytes: Buffer) => {
    pump.held.push(bytes)
    if (isStopped) return
    if (delay === 0) return deliver(pump)
    setTimeout(() => {
      if (!isStopped) deliver(pump)
    }, delay)
  }

  const join = (client: Socket) => {
    const server = connect(target())
    sockets.add(server)
    const both: ReadonlyArray<Pump> = [
      { from: client, to: server, held: [], hasEnded: false },
      { from: server, to: client, held: [], hasEnded: false }
    ]
    for (const pump of both) {
      pumps.add(pump)
      pump.from.setNoDelay(true)
      pump.from.on("data", (bytes) => {
        if (typeof bytes !== "string") pass(pump, bytes)
      })
      pump.from.on("error", () => pump.from.destroy())
      pump.from.on("close", () => {
        sockets.delete(pump.from)
        pump.hasEnded = true
        if (!isStopped) setTimeout(() => deliver(pump), delay)
        if (both.every(({ hasEnded }) => hasEnded)) for (const one of both) pumps.delete(one)
      })
    }
  }

  const serve = (client: Socket) => {
    if (isCut) return void client.destroy()
    sockets.add(client)
    client.on("error", () => client.destroy())
    if (!isStopped) return join(client)
    waiting.push(client)
  }

  const listening = yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const made = createServer(serve)
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        made.close()
      })
  )
  const address = listening.address()

  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut: (next: boolean) => {
      isCut = next
      if (next) for (const socket of sockets) socket.destroy()
    },
    stop: (next: boolean) => {
      isStopped = next
      if (next) return
      for (const pump of pumps) deliver(pump)
      for (const client of waiting.splice(0)) if (!client.destroyed) join(client)
    },
    delay: (milliseconds: number) => {
      delay = milliseconds
    }
  }
})
export type TcpLine = Effect.Success<ReturnType<typeof tcpLine>>
