import { existsSync, readFileSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { Effect } from "effect"

/** A transaction, as observed between its client and the database. */
export interface ObservedTransaction {
  readonly statements: number
  readonly millis: number
  /**
   * Processor time that the database has spent on the transaction, in milliseconds, or 0 where it cannot be read. Unlike
   * `millis`, it does not depend on other load on the machine.
   */
  readonly worked: number
  /** The beginning of the transaction's first statement after the lock, so that people can identify the transaction. */
  readonly first: string
}

interface OpenTransaction {
  readonly begun: number
  readonly workedBefore: number
  readonly statements: Array<string>
}

/** Nanoseconds per millisecond. */
const nanos = 1e6

/** The processor time of a process, in milliseconds. */
const workedBy = (processId: number | undefined): number => {
  const file = `/proc/${processId ?? 0}/schedstat`
  if (!existsSync(file)) return 0
  const [onProcessor = "0"] = readFileSync(file, "utf8").split(" ")
  return Number(onProcessor) / nanos
}

/** Start of the message with the id of the server process of a connection. */
const keyData = Buffer.from([0x4b, 0, 0, 0, 12])

/** The id of the process that serves a connection, once the database has told it. */
const processIdIn = (bytes: Buffer): number | undefined => {
  const at = bytes.indexOf(keyData)
  return at < 0 || at + keyData.length + lengthBytes > bytes.length
    ? undefined
    : bytes.readUInt32BE(at + keyData.length)
}

const typeBytes = 1
const lengthBytes = 4

/** The text before the next zero byte, and the offset after it. */
const textAt = (bytes: Buffer, offset: number): readonly [text: string, next: number] => {
  const end = bytes.indexOf(0, offset)
  return [bytes.toString("utf8", offset, end), end + 1]
}

/**
 * Reads a PostgreSQL client's messages. `Parse` contains the text of a statement, `Bind` refers to a prepared statement by
 * its name, and `Query` is a statement without values. The first message of a connection has no type.
 */
const frontend = (statement: (text: string) => void) => {
  const prepared = new Map<string, string>()
  let rest = Buffer.alloc(0)
  let isStarted = false
  return (data: Buffer) => {
    rest = Buffer.concat([rest, data])
    for (;;) {
      const head = isStarted ? typeBytes : 0
      if (rest.length < head + lengthBytes) return
      const end = head + rest.readUInt32BE(head)
      if (rest.length < end) return
      const message = rest.subarray(head + lengthBytes, end)
      const type = isStarted ? String.fromCharCode(rest[0] ?? 0) : "startup"
      if (type === "P") {
        const [name, next] = textAt(message, 0)
        prepared.set(name, textAt(message, next)[0])
      } else if (type === "B") {
        const [, next] = textAt(message, 0)
        statement(prepared.get(textAt(message, next)[0]) ?? "")
      } else if (type === "Q") {
        statement(textAt(message, 0)[0])
      }
      isStarted = true
      rest = rest.subarray(end)
    }
  }
}

/**
 * Opens a TCP address for the server behind a Unix socket, and simulates that the server is on another machine: each of the
 * client's messages arrives `delay` milliseconds later, in order. Observes the transactions that are committed.
 */
export const distantDatabase = Effect.fnUntraced(function* (socketPath: string, delay: number) {
  let observed: Array<ObservedTransaction> = []
  const sockets = new Set<Socket>()
  const serve = (client: Socket) => {
    const server = connect(socketPath)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on("error", () => undefined)
      socket.on("close", () => {
        client.destroy()
        server.destroy()
      })
    }
    let open: OpenTransaction | undefined
    let processId: number | undefined
    const read = frontend((text) => {
      if (/^BEGIN$/.test(text)) {
        open = { begun: performance.now(), workedBefore: workedBy(processId), statements: [] }
      } else if (/^COMMIT\b/.test(text) && open !== undefined) {
        const { begun, statements, workedBefore } = open
        observed.push({
          statements: statements.length,
          millis: performance.now() - begun,
          worked: workedBy(processId) - workedBefore,
          first: (statements[1] ?? "").replaceAll(/\s+/g, " ").trim().slice(0, 80)
        })
        open = undefined
      } else open?.statements.push(text)
    })
    client.on("data", (given) => {
      const data = typeof given === "string" ? Buffer.from(given) : given
      read(data)
      if (delay === 0) server.write(data)
      else setTimeout(() => server.write(data), delay)
    })
    server.on("data", (given) => {
      const data = typeof given === "string" ? Buffer.from(given) : given
      processId ??= processIdIn(data)
      client.write(data)
    })
  }
  const listener = yield* Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const created = createServer(serve)
          created.listen(0, "127.0.0.1", () => resolve(created))
        })
    ),
    (created) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        created.close()
      })
  )
  const address = listener.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    /** Returns the transactions that were committed since the last call. */
    take: (): ReadonlyArray<ObservedTransaction> => {
      const taken = observed
      observed = []
      return taken
    }
  }
})
