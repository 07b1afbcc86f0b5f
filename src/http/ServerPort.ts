import type { RunFrames } from "../streams/RunFrames.ts"
import type { SocketSession, SocketSink } from "../streams/WebSockets.ts"
import type { ListenAddress } from "../http-kit/ListenAddress.ts"

const kibibyte = 1024

/** Limits on what a subscriber may send, and on what it may leave unread, in bytes. */
export const socketLimits = { payload: 64 * kibibyte, unread: kibibyte * kibibyte }

/** The host of a request that names none, as HTTP/1.0 allows. */
export const unnamedHost = "localhost"

/** A request before it is interpreted. */
export interface RequestHead {
  /** All Host headers, joined with a comma; none in HTTP/1.0 alone, since servers refuse such a request by HTTP/1.1. */
  readonly host: string | null
  /** The request target; not always a URL, and only a path if there is no host. */
  readonly url: string
}

/** The actions of a server on the connection of one request. */
export interface Connection {
  readonly remoteAddress: string | undefined
  /** Drops the connection after this long without a byte. */
  readonly idleAfter: (seconds: number) => void
  /** Upgrades it to a WebSocket that carries the frames; false when the request is not an upgrade. */
  readonly upgrade: (frames: RunFrames, headers: Readonly<Record<string, string>>) => boolean
}

export interface ServerOptions {
  readonly address: ListenAddress
  /** Longest time without a byte while a request is arriving, or between two requests. */
  readonly idleSeconds: number
  /** Number of seconds in which a subscriber must answer a ping. */
  readonly socketIdleSeconds: number
  /** Returns nothing if the connection was upgraded. The request may only be built once its head has been checked. */
  readonly answer: (
    head: RequestHead,
    request: () => Request,
    connection: Connection
  ) => Response | Promise<Response | undefined>
  /** The response to a request that the server failed to handle. */
  readonly failed: () => Response
  readonly open: (frames: RunFrames, sink: SocketSink) => SocketSession
}

/** A listening server. */
export interface Server {
  readonly port: number
  /** Stops accepting connections, and resolves once none are left. With `force`, the remaining ones are dropped. */
  readonly stop: (force: boolean) => Promise<void>
}

/** The function that the listener needs from a runtime's HTTP server. Rejects when it cannot listen on the address. */
export type StartServer = (options: ServerOptions) => Promise<Server>
