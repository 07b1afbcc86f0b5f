import { connect, createServer, type Socket } from "node:net"
import process from "node:process"
import { Effect, Redacted } from "effect"

/** The places at which a line can stop while a client sends a statement to PostgreSQL. */
export type Place = "before" | "inside the text" | "before the values" | "in the answer"

const typeBytes = 1
const lengthBytes = 4
/** Fewer bytes than the length of a message. */
const someBytes = 3

/** The number of bytes that pass before the line stops, or `undefined` if the statement is not in this chunk. */
const passing = (chunk: Buffer, statement: string, place: Place): number | undefined => {
  let offset = 0
  while (offset + typeBytes + lengthBytes <= chunk.length) {
    const end = offset + typeBytes + chunk.readUInt32BE(offset + typeBytes)
    if (chunk.subarray(offset, end).includes(statement)) {
      if (place === "in the answer") return chunk.length
      if (place === "before the values") return end + someBytes
      return place === "before" ? offset : Math.floor((offset + end) / 2)
    }
    offset = end
  }
  return undefined
}

const serverSocket = () => {
  const url = new URL(process.env["SVC_TEST_POSTGRES"] ?? "")
  const folder = url.searchParams.get("host")
  return folder === null
    ? connect({ host: url.hostname, port: Number(url.port) })
    : connect({ path: `${folder}/.s.PGSQL.5432` })
}

/**
 * Opens a TCP line to the PostgreSQL server of the tests. The connection that sends the given statement is stopped at a place:
 * it stays open, but passes no more bytes in either direction, as if its client were frozen.
 */
export const stoppingLine = Effect.fnUntraced(function* (url: Redacted.Redacted, statement: string, place: Place) {
  const sockets = new Set<Socket>()
  let onStopped = () => {}
  const stopped = new Promise<void>((resolve) => {
    onStopped = resolve
  })
  const serve = (client: Socket) => {
    const server = serverSocket()
    let isStopped = false
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on("error", () => undefined)
      socket.on("close", () => {
        client.destroy()
        server.destroy()
      })
    }
    client.on("data", (given) => {
      const chunk = typeof given === "string" ? Buffer.from(given) : given
      if (isStopped) return
      const bytes = passing(chunk, statement, place)
      if (bytes === undefined) return void server.write(chunk)
      isStopped = true
      server.pause()
      server.write(chunk.subarray(0, bytes), () => onStopped())
    })
    server.on("data", (chunk) => void client.write(chunk))
  }
  const listener = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const made = createServer(serve)
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        made.close()
      })
  )
  const address = listener.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: Redacted.make(`postgres://svc@127.0.0.1:${port}${new URL(Redacted.value(url)).pathname}`),
    stopped: Effect.promise(() => stopped),
    /** Closes every connection, as the kernel of the client's machine does once it is reached again. */
    reset: Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
    })
  }
})
