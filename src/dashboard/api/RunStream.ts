// Follows a Run's live events or log over a WebSocket, and resumes after the last received sequence number.

export interface Sequenced {
  readonly seq: number
}

export interface StreamSocket {
  readonly close: () => void
}

/** The callbacks of a socket. None of them is called after `close`. */
export interface SocketListener {
  readonly onOpen: () => void
  readonly onMessage: (data: unknown) => void
  readonly onClose: (code: number) => void
}

export type StreamState = "connecting" | "live" | "waiting" | "done" | "refused"

export interface RunStreamOptions<A extends Sequenced> {
  /** URL of the stream that starts after `seq`. */
  readonly url: (after: number) => string
  readonly read: (frame: unknown) => ReadonlyArray<A>
  readonly onItems: (items: ReadonlyArray<A>) => void
  readonly onState: (state: StreamState, retryInMs?: number) => void
  readonly open: (url: string, listener: SocketListener) => StreamSocket
  readonly schedule: (run: () => void, ms: number) => () => void
  readonly random: () => number
}

const firstDelayMs = 250
const longestDelayMs = 15_000
/** Close codes after which it is no use trying again: a policy violation, a missing permission or an unknown Run. */
const finalCodes: ReadonlySet<number> = new Set([1008, 4400, 4401, 4403, 4404])

/**
 * Exponential back-off. Half of the delay is random, so that many pages do not reconnect to a restarted server at the same
 * time.
 */
export const backoff = (attempt: number, random: number): number => {
  const full = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt, 16))
  return Math.round(full / 2 + (full / 2) * random)
}

const isDone = (frame: unknown): boolean =>
  typeof frame === "object" && frame !== null && "done" in frame && frame.done === true

const parse = (data: unknown): unknown => {
  if (typeof data !== "string") return undefined
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

export class RunStream<A extends Sequenced> {
  private after = 0
  private attempt = 0
  private socket: StreamSocket | undefined
  private unschedule: (() => void) | undefined
  private stopped = false
  private readonly options: RunStreamOptions<A>

  constructor(options: RunStreamOptions<A>) {
    this.options = options
  }

  start(): void {
    this.stopped = false
    this.connect()
  }

  /** Stops the stream and all callbacks. A later `start` continues after the last received item. */
  stop(): void {
    this.stopped = true
    this.unschedule?.()
    this.unschedule = undefined
    this.socket?.close()
    this.socket = undefined
  }

  /** Retries immediately. Called when a person presses a button or the browser is online again. */
  retryNow(): void {
    if (this.unschedule === undefined || this.stopped) return
    this.unschedule()
    this.unschedule = undefined
    this.connect()
  }

  private connect(): void {
    this.unschedule = undefined
    this.options.onState("connecting")
    let done = false
    this.socket = this.options.open(this.options.url(this.after), {
      onOpen: () => {
        if (!this.stopped) this.options.onState("live")
      },
      onMessage: (data) => {
        if (this.stopped) return
        const frame = parse(data)
        // Only a received frame proves that the connection works. A proxy that accepts connections and drops them must not
        // reset the back-off.
        this.attempt = 0
        this.take(this.options.read(frame))
        if (!isDone(frame)) return
        done = true
        this.options.onState("done")
      },
      onClose: (code) => {
        if (!this.stopped && !done) this.lost(code)
      }
    })
  }

  private take(items: ReadonlyArray<A>): void {
    const fresh: Array<A> = []
    for (const item of items) {
      if (item.seq <= this.after) continue
      this.after = item.seq
      fresh.push(item)
    }
    if (fresh.length > 0) this.options.onItems(fresh)
  }

  private lost(code: number): void {
    if (finalCodes.has(code)) return this.options.onState("refused")
    const delay = backoff(this.attempt, this.options.random())
    this.attempt += 1
    this.options.onState("waiting", delay)
    this.unschedule = this.options.schedule(() => this.connect(), delay)
  }
}
