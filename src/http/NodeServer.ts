import { createServer, type IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { type Duplex, Readable } from "node:stream"
import {
  type Connection,
  type ServerOptions,
  type StartServer,
  type RequestHead,
  unnamedHost,
  socketLimits
} from "./ServerPort.ts"
import { type WebSocket, WebSocketServer } from "ws"
import type { RunFrames } from "../streams/RunFrames.ts"
import { setImmediate } from "node:timers/promises"

const headersOfResponse = (response: Response): Record<string, string | Array<string>> => {
  const headers: Record<string, string | Array<string>> = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers["set-cookie"] = cookies
  return headers
}

/** Resolves when the client has received the written data or has disconnected. */
const taken = (outgoing: ServerResponse) =>
  new Promise<void>((resolve) => {
    const settle = () => {
      outgoing.off("drain", settle)
      outgoing.off("close", settle)
      resolve()
    }
    outgoing.on("drain", settle)
    outgoing.on("close", settle)
  })

/** Sends a response as fast as the client reads it. Cancels the body if the client disconnects. */
const writeResponse = async (
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse
): Promise<void> => {
  if (outgoing.destroyed) return void response.body?.cancel().catch(() => {})
  const headers = headersOfResponse(response)
  if (response.body === null || incoming.method === "HEAD") {
    if (
      response.body === null &&
      incoming.method !== "HEAD" &&
      response.status >= 200 &&
      response.status !== 204 &&
      response.status !== 304
    )
      headers["content-length"] = "0"
    outgoing.writeHead(response.status, headers).end()
    await response.body?.cancel().catch(() => {})
    return
  }
  const reader = response.body.getReader()
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) void reader.cancel().catch(() => {})
  })
  try {
    let next = await reader.read()
    if (!next.done && headers["content-length"] === undefined) {
      // If the stream ends after the first chunk, as most bodies do, the length is known.
      const first = next.value
      const second = reader.read()
      const settled = await Promise.race([second, setImmediate(undefined)])
      if (settled?.done === true) {
        outgoing.writeHead(response.status, { ...headers, "content-length": String(first.byteLength) }).end(first)
        return
      }
      outgoing.writeHead(response.status, headers)
      if (!outgoing.write(first)) await taken(outgoing)
      next = await second
    } else {
      outgoing.writeHead(response.status, headers)
    }
    while (!next.done && !outgoing.destroyed) {
      if (!outgoing.write(next.value)) await taken(outgoing)
      next = await reader.read()
    }
    outgoing.end()
  } catch {
    // Destroy the connection, because a body that failed midway must not look complete.
    outgoing.destroy()
  }
}

const keyPattern = /^[+/0-9A-Za-z]{22}==$/

/** Returns true if the request asks for a WebSocket and can be upgraded to one. */
const isHandshake = ({ headers, method }: IncomingMessage): boolean =>
  method === "GET" &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  headers["sec-websocket-version"] === "13" &&
  keyPattern.test(headers["sec-websocket-key"] ?? "")

/** Implements `SocketSink` with the WebSockets of a Node server. */
const nodeSockets = ({ open, socketIdleSeconds }: Pick<ServerOptions, "open" | "socketIdleSeconds">) => {
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

  // Records whether each client has answered the last ping. A client that does not answer for a whole round is considered
  // disconnected.
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
    // Ignore the contents of messages, but treat each as a sign that the connection is alive.
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

/** Methods that the `Request` constructor refuses, but to which the server has to respond. */
const forbidden: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"])
const withoutBody: ReadonlySet<string> = new Set(["GET", "HEAD", ...forbidden])

const headersOf = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers()
  // Read `rawHeaders`, in which names and values alternate, because `headers` drops repeated headers.
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "")
  return headers
}

/**
 * Returns the URL of a request. The request target may be a path, a URL (absolute form), an authority (CONNECT) or an asterisk.
 */
const urlOf = (host: string | null, { method, url = "/" }: IncomingMessage): string =>
  url.startsWith("/") ? `http://${host ?? unnamedHost}${url}` : method === "CONNECT" ? `http://${url}` : url

const bodyOf = (incoming: IncomingMessage): ReadableStream<Uint8Array> => {
  const reading = Readable.toWeb(incoming)
  const reader = reading.getReader()
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason)
  })
}

/**
 * Returns the head of a Node request, and a function that creates the `Request`. The signal of the `Request` is aborted when
 * the client disconnects.
 */
const nodeRequest = (
  incoming: IncomingMessage,
  outgoing: ServerResponse
): { readonly head: RequestHead; readonly build: () => Request } => {
  const headers = headersOf(incoming)
  const host = headers.get("host")
  const url = urlOf(host, incoming)
  const method = incoming.method ?? "GET"
  const build = () => {
    const gone = new AbortController()
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) gone.abort()
    })
    const init = { headers, signal: gone.signal }
    if (withoutBody.has(method)) {
      incoming.resume()
      const request = new Request(url, { ...init, method: forbidden.has(method) ? "GET" : method })
      if (forbidden.has(method)) Object.defineProperty(request, "method", { value: method })
      return request
    }
    const hasBody = headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0
    return new Request(url, { ...init, method, ...(hasBody ? { body: bodyOf(incoming), duplex: "half" } : {}) })
  }
  return { head: { host, url }, build }
}

const isSocket = (stream: Duplex): stream is Socket => "setTimeout" in stream

/** Sends a last response on a connection that the HTTP parser no longer handles, and closes it. */
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

/** Returns true if the request has no body. Such a request is complete although the parser stopped after the head. */
const isWhole = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0

/**
 * Performs the checks that Node's parser does not perform. A server has no resource named `*`, and a CONNECT must have a
 * host like any other request.
 */
const isMalformed = ({ headers, httpVersion, url }: IncomingMessage) =>
  url === "*" || (headers.host === undefined && httpVersion === "1.1")

/** Starts Node's server. Node's parser decides which input is a request, and itself responds to any other input. */
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

  /** On an unexpected error, close the connection instead of crashing the process. */
  const exchange = (...given: Parameters<typeof exchanged>): void => {
    exchanged(...given).catch(() => given[1].destroy())
  }

  const server = createServer(
    {
      keepAliveTimeout: options.idleSeconds * 1000,
      headersTimeout: options.idleSeconds * 1000,
      // Disabled, because the application enforces a deadline for bodies and responds with a specific message.
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
    // The parser is detached, so the body cannot be read. Respond with 400; a client that requested another protocol may retry
    // without the upgrade.
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
