import { connect, createServer, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { inlineFilesCapability } from "../../../schema/agent/InlineFile.ts"
import { headOf, messageOf, wholeBytes } from "./HttpMessage.ts"

/**
 * The point at which a connection is cut.
 * - `request lost`, `half the request`: the server receives nothing, or only the beginning
 * - `half the answer`, `answer lost`: the server has acted, but the agent receives no complete response
 * - `forged answer`: the signature of an offer is changed in transit
 */
export const ways = ["request lost", "half the request", "half the answer", "answer lost"] as const
export type Way = (typeof ways)[number] | "forged answer"

export interface Fault {
  readonly message: string
  readonly way: Way
  /** Limits the fault to matching requests. */
  readonly asks?: RegExp
  /** Limits the fault to matching responses. */
  readonly answers?: RegExp
  /** An action performed together with the fault, such as a SIGKILL to the server or the agent. */
  readonly also?: () => void
}

/**
 * Replaces the announced capability in both directions, so that the server and the agent communicate as if the peer were
 * from the previous release. The replacement must be as long as the original.
 */
const unheard = inlineFilesCapability.replace("carried", "unheard")

const withoutFiles = (bytes: Buffer): Buffer => {
  for (let at = bytes.indexOf(inlineFilesCapability); at !== -1; at = bytes.indexOf(inlineFilesCapability, at))
    bytes.write(unheard, at)
  return bytes
}

const slice = 16 * 1024
const millisecondsInSecond = 1000

interface Armed extends Fault {
  isHit: boolean
}

const isOfAnswer = ({ way }: Fault) => way === "half the answer" || way === "answer lost" || way === "forged answer"

const forged = (answer: Buffer): Buffer =>
  Buffer.from(
    answer
      .toString("latin1")
      .replace(/("signature":")(.)/, (_, before: string, first: string) => `${before}${first === "A" ? "B" : "A"}`),
    "latin1"
  )

/**
 * The connection between an agent and its server. It forwards and records every byte, and fails on request. With `asBefore`,
 * it hides from the server and from the agent that the other one accepts files within messages, as if the other one were
 * from the previous release.
 */
export const faultLine = Effect.fn("faultLine")(function* (
  upstreamUrl: string,
  { asBefore = false }: { readonly asBefore?: boolean } = {}
) {
  const heard = (bytes: Buffer) => (asBefore ? withoutFiles(bytes) : bytes)
  const port = Number(new URL(upstreamUrl).port)
  const captured: Array<Array<Buffer>> = []
  const said: Array<string> = []
  const sockets = new Set<Socket>()
  let faults: ReadonlyArray<Armed> = []
  let isCut = false
  let isMuted = false
  let rate: number | undefined
  let free = 0
  let backlog = 0
  const watched = new Map<string, number | undefined>()

  /** Connections take turns, as on a shared line. */
  const paced = async (to: Socket, bytes: Buffer) => {
    backlog += bytes.length
    for (let at = 0; at < bytes.length; at += slice) {
      const part = bytes.subarray(at, at + slice)
      backlog -= part.length
      if (to.destroyed) continue
      if (rate !== undefined) {
        const now = performance.now()
        free = Math.max(free, now) + (part.length / rate) * millisecondsInSecond
        await sleep(free - now)
      }
      to.write(part)
    }
  }

  const serve = (client: Socket) => {
    if (isCut) return void client.destroy()
    const upstream = connect(port, "127.0.0.1")
    const [fromAgent, fromServer]: [Array<Buffer>, Array<Buffer>] = [[], []]
    captured.push(fromAgent, fromServer)
    sockets.add(client).add(upstream)
    let waiting = Buffer.alloc(0)
    let answer = Buffer.alloc(0)
    let message = ""
    let current: Armed | undefined

    const drop = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      socket.on("error", drop)
      socket.on("close", () => {
        sockets.delete(socket)
        drop()
      })
    }
    const hit = (fault: Armed) => {
      fault.isHit = true
      fault.also?.()
    }

    const request = (bytes: Buffer) => {
      message = messageOf(bytes)
      said.push(message)
      answer = Buffer.alloc(0)
      current = faults.find(
        ({ asks, isHit, message: wanted }) =>
          !isHit && wanted === message && (asks === undefined || asks.test(bytes.toString("latin1")))
      )
      if (current === undefined || isOfAnswer(current)) return void paced(upstream, bytes)
      hit(current)
      if (current.way === "request lost") return drop()
      const { bytes: head } = headOf(bytes) ?? { bytes: 0 }
      upstream.write(bytes.subarray(0, head + Math.floor((bytes.length - head) / 2)), drop)
    }

    client.on("data", (chunk) => {
      if (typeof chunk === "string") return
      fromAgent.push(chunk)
      waiting = Buffer.concat([waiting, chunk])
      for (let whole = wholeBytes(waiting); whole !== undefined; whole = wholeBytes(waiting)) {
        const bytes = heard(waiting.subarray(0, whole))
        waiting = waiting.subarray(whole)
        request(bytes)
      }
    })
    upstream.on("data", (chunk) => {
      if (typeof chunk === "string" || isMuted) return
      fromServer.push(chunk)
      for (const [words, at] of watched) {
        if (at === undefined && chunk.includes(words)) watched.set(words, Date.now())
      }
      const fault = current
      answer = Buffer.concat([answer, heard(chunk)])
      const isPassed = fault === undefined || fault.isHit || !isOfAnswer(fault)
      if (!isPassed && wholeBytes(answer) === undefined) return
      const whole = answer
      answer = Buffer.alloc(0)
      if (isPassed) return void client.write(whole)
      if (fault.answers !== undefined && !fault.answers.test(whole.toString("latin1"))) return void client.write(whole)
      hit(fault)
      if (fault.way === "answer lost") return drop()
      if (fault.way === "forged answer") return void client.write(forged(whole))
      const { bytes: head } = headOf(whole) ?? { bytes: 0 }
      client.write(whole.subarray(0, head + Math.floor((whole.length - head) / 2)), drop)
    })
  }

  const server = yield* Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const made = createServer(serve)
          made.listen(0, "127.0.0.1", () => resolve(made))
        })
    ),
    (made) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        made.close()
      })
  )
  const address = server.address()

  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    /** Every message that has been sent, in order. */
    said,
    /** Every byte that has passed through, with one buffer for each direction of each connection. */
    captured: () => captured.map((chunks) => Buffer.concat(chunks)),
    /** Arms faults, each of which happens once. Replaces the previously armed faults. */
    arm: (next: ReadonlyArray<Fault>) => {
      faults = next.map((fault) => ({ ...fault, isHit: false }))
    },
    /** The armed faults that have not happened yet. */
    unhit: () => faults.filter(({ isHit }) => !isHit).map(({ message }) => message),
    /**
     * Watches for the next time that the server sends this string. Returns a function that returns that time, or `undefined`
     * until then.
     */
    heard: (words: string) => {
      watched.set(words, undefined)
      return () => watched.get(words)
    },
    cut: (next: boolean) => {
      isCut = next
      if (next) for (const socket of sockets) socket.destroy()
    },
    /** If true, everything that the server sends is dropped, while the agent's messages still arrive. */
    mute: (next: boolean) => {
      isMuted = next
    },
    /** The agent's sending rate, in bytes per second. */
    slow: (bytesPerSecond: number | undefined) => {
      rate = bytesPerSecond
    },
    /** The number of bytes that the agent has sent but that have not crossed the line yet. */
    backlog: () => backlog
  }
})

export type FaultLine = Effect.Success<ReturnType<typeof faultLine>>
