import { describe, expect, test } from "bun:test"
import { backoff, RunStream, type SocketListener, type StreamState } from "../../src/dashboard/api/RunStream.ts"

interface Item {
  readonly seq: number
}

const isItem = (value: unknown): value is Item =>
  typeof value === "object" && value !== null && "seq" in value && typeof value.seq === "number"

const readItems = (frame: unknown): ReadonlyArray<Item> => {
  const items = typeof frame === "object" && frame !== null && "events" in frame ? frame.events : []
  return Array.isArray(items) ? items.filter(isItem) : []
}

const harness = () => {
  const opened: Array<{ readonly url: string; readonly listener: SocketListener; closed: boolean }> = []
  const items: Array<number> = []
  const states: Array<StreamState> = []
  const waits: Array<{ readonly run: () => void; readonly ms: number; cancelled: boolean }> = []
  const stream = new RunStream<Item>({
    url: (after) => `/events?after=${after}`,
    read: readItems,
    onItems: (fresh) => items.push(...fresh.map(({ seq }) => seq)),
    onState: (state) => states.push(state),
    open: (url, listener) => {
      const socket = { url, listener, closed: false }
      opened.push(socket)
      return {
        close: () => {
          socket.closed = true
        }
      }
    },
    schedule: (run, ms) => {
      const wait = { run, ms, cancelled: false }
      waits.push(wait)
      return () => {
        wait.cancelled = true
      }
    },
    random: () => 0.5
  })
  const last = () => {
    const socket = opened.at(-1)
    if (socket === undefined) throw new Error("No socket was opened.")
    return socket.listener
  }
  const send = (...seqs: ReadonlyArray<number>) =>
    last().onMessage(JSON.stringify({ events: seqs.map((seq) => ({ seq })) }))
  return { stream, opened, items, states, waits, last, send }
}

describe("Run stream", () => {
  test("a Run's stream resumes after the last item it received, and never delivers an item twice", () => {
    const { stream, opened, items, waits, last, send } = harness()
    stream.start()
    send(1, 2)
    last().onClose(1006)
    waits.at(-1)?.run()
    send(2, 3)
    send(3, 4)
    expect(opened.map(({ url }) => url)).toEqual(["/events?after=0", "/events?after=2"])
    expect(items).toEqual([1, 2, 3, 4])
  })

  test("a Run's stream backs off after each failure, and resets once a frame arrives", () => {
    const { stream, waits, last, send } = harness()
    stream.start()
    for (let time = 0; time < 4; time += 1) {
      last().onClose(1006)
      waits.at(-1)?.run()
    }
    send(1)
    last().onClose(1012)
    expect(waits.map(({ ms }) => ms)).toEqual([188, 375, 750, 1500, 188])
  })

  test("a socket that closes before its first frame does not reset the stream's back-off", () => {
    const { stream, waits, last } = harness()
    stream.start()
    last().onClose(1006)
    waits.at(-1)?.run()
    last().onOpen()
    last().onClose(1006)
    expect(waits.map(({ ms }) => ms)).toEqual([188, 375])
  })

  test("a Run's stream closes at done, and does not reconnect", () => {
    const { stream, opened, states, last } = harness()
    stream.start()
    last().onMessage(JSON.stringify({ done: true }))
    last().onClose(1000)
    expect(states.at(-1)).toBe("done")
    expect(opened).toHaveLength(1)
  })

  test("a Run's stream stops retrying when retries cannot help", () => {
    const { stream, states, waits, last } = harness()
    stream.start()
    last().onClose(4403)
    expect(states.at(-1)).toBe("refused")
    expect(waits).toHaveLength(0)
  })

  test("a stopped Run stream cancels its wait, and sends no further request", () => {
    const { stream, opened, items, states, waits, last, send } = harness()
    stream.start()
    last().onClose(1006)
    stream.stop()
    const before = states.length
    send(1)
    last().onClose(1006)
    expect(waits[0]?.cancelled).toBe(true)
    expect(items).toEqual([])
    expect(states).toHaveLength(before)
    expect(opened).toHaveLength(1)
  })

  test("a Run's stream retries immediately on request, but only while it waits", () => {
    const { stream, opened, last } = harness()
    stream.start()
    stream.retryNow()
    expect(opened).toHaveLength(1)
    last().onClose(1006)
    stream.retryNow()
    stream.retryNow()
    expect(opened).toHaveLength(2)
  })

  test("a Run's stream ignores binary frames and frames that are not JSON", () => {
    const { stream, items, last, send } = harness()
    stream.start()
    last().onMessage("{")
    last().onMessage(new Uint8Array(3))
    send(1)
    expect(items).toEqual([1])
  })

  test("a Run's stream never waits longer than fifteen seconds", () => {
    expect(backoff(40, 1)).toBe(15_000)
    expect(backoff(0, 0)).toBe(125)
  })
})
