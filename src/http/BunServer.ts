import type { RunFrames } from "../streams/RunFrames.ts"
import type { SocketSession } from "../streams/WebSockets.ts"
import { type ServerOptions, type StartServer, socketLimits } from "./ServerPort.ts"

interface SocketData {
  readonly frames: RunFrames
  session?: SocketSession
}

const mebibyte = 1024 * 1024

const withHeader = async (
  answered: ReturnType<ServerOptions["answer"]>,
  failed: ServerOptions["failed"],
  name: string,
  value: string
) => {
  const response = await Promise.resolve(answered).catch(failed)
  response?.headers.set(name, value)
  return response
}

/** The HTTP server on Bun. */
export const startBunServer: StartServer = async ({
  address,
  answer,
  failed,
  idleSeconds,
  open,
  socketIdleSeconds
}) => {
  const server = Bun.serve<SocketData>({
    hostname: address.host,
    port: address.port,
    development: false,
    // Refuse a port that is in use. Bun shares ports by default, so a second server would receive some of this server's requests.
    reusePort: false,
    idleTimeout: idleSeconds,
    // Higher than the limit of every accepted body, so that the application refuses oversized bodies with its own envelope.
    maxRequestBodySize: 1024 * mebibyte,
    fetch: (request, self) => {
      const answered = answer({ host: request.headers.get("host"), url: request.url }, () => request, {
        remoteAddress: self.requestIP(request)?.address,
        idleAfter: (seconds) => self.timeout(request, seconds),
        upgrade: (frames, headers) => self.upgrade(request, { data: { frames }, headers })
      })
      switch (request.method) {
        case "CONNECT":
          // Close the connection, because the rest of the input cannot be parsed as a request.
          return withHeader(answered, failed, "connection", "close")
        case "HEAD":
          // Add the date, which Bun adds only for other methods.
          return withHeader(answered, failed, "date", new Date().toUTCString())
        default:
          return answered
      }
    },
    error: failed,
    websocket: {
      perMessageDeflate: false,
      maxPayloadLength: socketLimits.payload,
      backpressureLimit: socketLimits.unread,
      closeOnBackpressureLimit: true,
      idleTimeout: socketIdleSeconds,
      open: (socket) => {
        socket.data.session = open(socket.data.frames, {
          send: (text) => socket.send(text),
          close: (code, reason) => socket.close(code, reason),
          terminate: () => socket.terminate()
        })
      },
      // Ignore messages from subscribers.
      message: () => {},
      drain: (socket) => socket.data.session?.drained(),
      close: (socket) => socket.data.session?.closed()
    }
  })
  return { port: server.port ?? address.port, stop: (force) => server.stop(force) }
}
