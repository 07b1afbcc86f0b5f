// The client for a load measurement. It is a separate process, because the bench's garbage collection would otherwise count as
// the server's time. Reads one measurement per line from stdin, and prints one result for each.
import { createInterface } from "node:readline"
import type { Load } from "./Load.ts"

interface Waiting {
  /** The part of the head that has been received. */
  head: string
  /** Remaining bytes of the body; undefined until the head is complete. */
  missing: number | undefined
  /** The most recently received bytes of a chunked body. */
  tail: string | undefined
  sentAt: number
}

// The maximum number of bytes to read before the end of the head; larger than any head.
const headBytes = 4096

const headEnd = "\r\n\r\n"
/** The end of a chunked body. The measured bodies contain this sequence only at their end. */
const lastChunk = "\r\n0\r\n\r\n"

/** True if the last chunk has arrived. */
const isEnded = (waiting: Waiting, bytes: Buffer): boolean => {
  const tail = (waiting.tail ?? "") + bytes.toString("latin1", Math.max(0, bytes.length - lastChunk.length))
  waiting.tail = tail.slice(-lastChunk.length)
  return waiting.tail === lastChunk
}

/** Processes received bytes, and returns true once the response is complete. Bodies are counted but not decoded. */
const isWhole = (waiting: Waiting, bytes: Buffer): boolean => {
  if (waiting.tail !== undefined) return isEnded(waiting, bytes)
  if (waiting.missing !== undefined) {
    waiting.missing -= bytes.length
    return waiting.missing <= 0
  }
  const before = waiting.head.length
  const text = waiting.head + bytes.toString("latin1", 0, headBytes)
  const end = text.indexOf(headEnd)
  waiting.head = text
  if (end === -1) return false
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(text.slice(0, end + 2))) return isEnded(waiting, bytes)
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
  if (length === undefined) return false
  waiting.missing = end + headEnd.length + Number(length) - before - bytes.length
  return waiting.missing <= 0
}

/**
 * Repeats one request over kept-alive connections, one request at a time on each connection. Starts once all connections are
 * open.
 */
const measure = ({ connections, port, request, requests }: Load) => {
  const { promise, reject, resolve } = Promise.withResolvers<{ seconds: number; millis: ReadonlyArray<number> }>()
  const millis = new Float64Array(requests)
  const sockets: Array<Bun.Socket<Waiting>> = []
  let sent = 0
  let answered = 0
  let started = 0
  const close = () => {
    for (const socket of sockets) socket.end()
  }
  const fail = (message: string) => {
    close()
    reject(new Error(message))
  }
  const next = (socket: Bun.Socket<Waiting>) => {
    if (sent >= requests) return
    sent++
    socket.data.sentAt = performance.now()
    socket.write(request)
  }
  const begin = () => {
    started = performance.now()
    for (const socket of sockets) next(socket)
  }
  for (let index = 0; index < connections; index++) {
    void Bun.connect<Waiting>({
      hostname: "127.0.0.1",
      port,
      data: { head: "", missing: undefined, tail: undefined, sentAt: 0 },
      socket: {
        open: (socket) => {
          sockets.push(socket)
          if (sockets.length === connections) begin()
        },
        data: (socket, bytes) => {
          if (!isWhole(socket.data, bytes)) return
          const { head } = socket.data
          socket.data.head = ""
          socket.data.missing = undefined
          socket.data.tail = undefined
          if (!head.startsWith("HTTP/1.1 2")) return fail(`${request.split("\r")[0]}: ${head.slice(0, 600)}`)
          const now = performance.now()
          millis[answered++] = now - socket.data.sentAt
          if (answered < requests) return next(socket)
          close()
          resolve({ seconds: (now - started) / 1000, millis: [...millis] })
        },
        error: (_, error) => fail(String(error))
      }
    })
  }
  return promise
}

for await (const line of createInterface({ input: process.stdin })) {
  const load: Load = JSON.parse(line)
  const result = await measure(load).catch((error: unknown) => ({ failure: String(error) }))
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
