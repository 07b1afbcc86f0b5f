import type { RunFrames } from "../streams/RunFrames.ts"
import type { SocketSession, SocketSink } from "../streams/WebSockets.ts"
import type { ListenAddress } from "../http-kit/ListenAddress.ts"

const kibibyte = 1024

/** Limits in bytes: for a message from a subscriber, and for data that a subscriber has not read yet. */
export const socketLimits = { payload: 64 * kibibyte, unread: kibibyte * kibibyte }

/** Host to assume for a request without a Host header, which HTTP/1.0 allows. */
export const unnamedHost = "localhost"

/** The parts of a request that are checked before the request is built. */
export interface RequestHead {
  /** All Host headers, joined with commas. Null only for HTTP/1.0, because servers refuse an HTTP/1.1 request without a host. */
  readonly host: string | null
  /** Request target. It is not necessarily a valid URL. If the request has no host, the target is only a path. */
  readonly url: string
}

/** Operations on the connection of one request. */
export interface Connection {
  readonly remoteAddress: string | undefined
  /** Drops the connection if no data is received or sent for this time. */
  readonly idleAfter: (seconds: number) => void
  /** Upgrades the connection to a WebSocket that carries the frames. Returns false if the request is not an upgrade. */
  readonly upgrade: (frames: RunFrames, headers: Readonly<Record<string, string>>) => boolean
}

export interface ServerOptions {
  readonly address: ListenAddress
  /** Idle timeout, in seconds, while a request arrives and between two requests. */
  readonly idleSeconds: number
  /** Time, in seconds, that a subscriber has to answer a ping. */
  readonly socketIdleSeconds: number
  /**
   * Answers a request, or returns `undefined` if the connection was upgraded. The implementation must build the request only
   * after it has checked the request's head.
   */
  readonly answer: (
    head: RequestHead,
    request: () => Request,
    connection: Connection
  ) => Response | Promise<Response | undefined>
  /** Creates the response to send if the server failed to handle a request. */
  readonly failed: () => Response
  readonly open: (frames: RunFrames, sink: SocketSink) => SocketSession
}

/** A listening server. */
export interface Server {
  readonly port: number
  /** Stops accepting connections, and resolves when no connections remain. With `force`, drops the remaining connections. */
  readonly stop: (force: boolean) => Promise<void>
}

/** Starts a runtime's HTTP server for the listener. Rejects if the server cannot listen at the address. */
export type StartServer = (options: ServerOptions) => Promise<Server>
