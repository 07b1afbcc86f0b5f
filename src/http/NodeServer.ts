import { createServer, type IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { nodeRequest } from "./NodeRequest.ts"
import { writeResponse } from "./NodeResponse.ts"
import { isHandshake, nodeSockets } from "./NodeSockets.ts"
import type { Connection, ServerOptions, StartServer } from "./ServerPort.ts"

const isSocket = (stream: Duplex): stream is Socket => "setTimeout" in stream

/** A connection that has left the HTTP parser gets one response and is closed. */
const lastResponse = (incoming: IncomingMessage, socket: Duplex): ServerResponse => {
  const outgoing = new ServerResponse(incoming)
  outgoing.shouldKeepAlive = false
  if (isSocket(socket)) outgoing.assignSocket(socket)
  outgoing.on("finish", () => {
    if (isSocket(socket)) outgoing.detachSocket(socket)
    socket.end()
  })
  return outgoing
}

/** Whether there is no body to read: the parser has stopped at the head. */
const isWhole = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0

/**
 * Checks that the parser leaves to its caller: no resource on a server is named `*`, and a CONNECT must name its host like any
 * other request.
 */
const isMalformed = ({ headers, httpVersion, url }: IncomingMessage) =>
  url === "*" || (headers.host === undefined && httpVersion === "1.1")

/** Node's server: its parser decides what counts as a request, and its own responses to anything else are kept. */
export const startNodeServer: StartServer = async (options: ServerOptions) => {
  const sockets = nodeSockets(options)
  const detached = new Set<Duplex>()
  let isStopping = false

  const exchanged = async (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    upgrade: Connection["upgrade"]
  ): Promise<void> => {
    if (isMalformed(incoming)) return void outgoing.writeHead(400, { connection: "close" }).end()
    const { build, head } = nodeRequest(incoming, outgoing)
    const connection: Connection = {
      remoteAddress: incoming.socket.remoteAddress,
      idleAfter: (seconds) => void incoming.socket.setTimeout(seconds * 1000),
      upgrade
    }
    const response = await new Promise<Response | undefined>((resolve) => {
      resolve(options.answer(head, build, connection))
    }).catch(() => options.failed())
    if (response === undefined) return
    if (isStopping) outgoing.shouldKeepAlive = false
    await writeResponse(response, incoming, outgoing)
  }

  /** An unexpected error closes the connection; it does not crash the process. */
  const exchange = (...given: Parameters<typeof exchanged>): void => {
    exchanged(...given).catch(() => given[1].destroy())
  }

  const server = createServer(
    {
      keepAliveTimeout: options.idleSeconds * 1000,
      headersTimeout: options.idleSeconds * 1000,
      // The application has its own deadline for a body, and refuses a late one with its own message.
      requestTimeout: 0
    },
    (incoming, outgoing) => exchange(incoming, outgoing, () => false)
  )
  server.timeout = options.idleSeconds * 1000

  const detach = (incoming: IncomingMessage, socket: Duplex): ServerResponse => {
    detached.add(socket)
    socket.on("close", () => detached.delete(socket))
    for (const event of ["error", "timeout"]) socket.on(event, () => socket.destroy())
    return lastResponse(incoming, socket)
  }
  server.on("upgrade", (incoming, socket, head) => {
    const outgoing = detach(incoming, socket)
    // The parser has been detached, so the rest of the request cannot be parsed. A client that requested another protocol may
    // retry without the upgrade.
    if (!isWhole(incoming)) return void outgoing.writeHead(400).end()
    exchange(incoming, outgoing, (frames, headers) => {
      if (!isHandshake(incoming)) return false
      if (isSocket(socket)) outgoing.detachSocket(socket)
      sockets.upgrade(incoming, socket, head, frames, headers)
      return true
    })
  })
  server.on("connect", (incoming, socket) => exchange(incoming, detach(incoming, socket), () => false))

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen({ host: options.address.host, port: options.address.port }, () => {
      server.off("error", reject)
      resolve()
    })
  })
  const bound = server.address()
  let stopped: Promise<void> | undefined
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : options.address.port,
    stop: (force) => {
      isStopping = true
      stopped ??= new Promise((resolve) => {
        server.on("request", (_, outgoing) => outgoing.on("close", () => server.closeIdleConnections()))
        server.close(() => {
          sockets.close()
          resolve()
        })
      })
      if (force) {
        server.closeAllConnections()
        for (const socket of detached) socket.destroy()
      }
      return stopped
    }
  }
}
