import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import type { RunFrames } from "../streams/RunFrames.ts"
import { type ServerOptions, socketLimits } from "./ServerPort.ts"

const keyPattern = /^[+/0-9A-Za-z]{22}==$/

/** Returns true if the request asks for a WebSocket and can be upgraded to one. */
export const isHandshake = ({ headers, method }: IncomingMessage): boolean =>
  method === "GET" &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  headers["sec-websocket-version"] === "13" &&
  keyPattern.test(headers["sec-websocket-key"] ?? "")

/** The WebSockets of a Node server, exposed as `SocketSink`. */
export const nodeSockets = ({ open, socketIdleSeconds }: Pick<ServerOptions, "open" | "socketIdleSeconds">) => {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: socketLimits.payload
  })
  const added = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>()
  server.on("headers", (lines, incoming) => {
    for (const [name, value] of Object.entries(added.get(incoming) ?? {})) lines.push(`${name}: ${value}`)
  })

  // A client that has not answered a ping for a whole round has disconnected.
  const answered = new Map<WebSocket, boolean>()
  const round = setInterval(
    () => {
      for (const [socket, wasHeard] of answered) {
        if (!wasHeard) {
          socket.terminate()
          continue
        }
        answered.set(socket, false)
        socket.ping()
      }
    },
    (socketIdleSeconds * 1000) / 2
  )
  round.unref()

  const attach = (socket: WebSocket, frames: RunFrames) => {
    answered.set(socket, true)
    const session = open(frames, {
      send: (text) => {
        if (socket.readyState !== socket.OPEN) return 0
        if (socket.bufferedAmount > socketLimits.unread) {
          socket.terminate()
          return 0
        }
        socket.send(text, () => session.drained())
        return socket.bufferedAmount === 0 ? text.length : -1
      },
      close: (code, reason) => socket.close(code, reason),
      terminate: () => socket.terminate()
    })
    const heard = () => void answered.set(socket, true)
    // Messages from subscribers are ignored, except that they show the connection is alive.
    socket.on("message", heard)
    socket.on("pong", heard)
    socket.on("error", () => socket.terminate())
    socket.on("close", () => {
      answered.delete(socket)
      session.closed()
    })
  }

  return {
    upgrade: (
      incoming: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      frames: RunFrames,
      headers: Readonly<Record<string, string>>
    ): void => {
      added.set(incoming, headers)
      server.handleUpgrade(incoming, socket, head, (opened) => attach(opened, frames))
    },
    close: () => clearInterval(round)
  }
}
