import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { Effect, Schedule } from "effect"

/** A server behind the balancer. */
interface Member {
  readonly url: string
  isReady: boolean
  failures: number
  /** Aborts the requests that this server is handling. */
  readonly drops: Set<() => void>
}

const lookEvery = "300 millis"
/** Timeout of a readiness check, and the number of consecutive failures after which a server counts as unavailable. */
const readyWithin = 2000
const mostFailures = 1
const noneReady = 503
const lostOnTheWay = 502

/**
 * Starts a balancer like the ones that operators use. It sends each request to the next ready server, regardless of the
 * client. The balancer checks the readiness of each server, and aborts the requests of a server that is not ready. It never
 * repeats a request that a server may have received.
 */
export const balancer = Effect.fn("balancer")(function* () {
  let members: ReadonlyArray<Member> = []
  let turn = 0
  let chosen: string | undefined
  /** Number of requests that each server has answered. */
  const answered = new Map<string, number>()

  const next = (except: ReadonlySet<string>) => {
    const ready = members.filter(
      ({ isReady, url }) => isReady && !except.has(url) && (chosen === undefined || chosen === url)
    )
    turn += 1
    return ready[turn % Math.max(1, ready.length)]
  }

  const forward = (
    asked: IncomingMessage,
    answer: ServerResponse,
    body: Buffer,
    tried: ReadonlySet<string> = new Set()
  ): void => {
    const member = next(tried)
    if (member === undefined) return void answer.writeHead(noneReady).end()
    const to = new URL(member.url)
    let hasConnected = false
    const drop = () => {
      sent.destroy()
      if (!answer.headersSent) answer.writeHead(lostOnTheWay).end()
      else answer.destroy()
    }
    const sent = request(
      { host: to.hostname, port: to.port, method: asked.method, path: asked.url, headers: asked.headers, agent: false },
      (from) => {
        hasConnected = true
        answered.set(member.url, (answered.get(member.url) ?? 0) + 1)
        answer.writeHead(from.statusCode ?? lostOnTheWay, from.headers)
        from.on("error", drop)
        from.on("aborted", drop)
        from.pipe(answer)
      }
    )
    member.drops.add(drop)
    sent.on("socket", (socket) => socket.on("connect", () => (hasConnected = true)))
    sent.on("error", () => {
      member.drops.delete(drop)
      // The server has received nothing, so the balancer may try another server.
      if (!hasConnected && !answer.headersSent) return forward(asked, answer, body, new Set([...tried, member.url]))
      drop()
    })
    answer.on("close", () => {
      member.drops.delete(drop)
      sent.destroy()
    })
    sent.end(body)
  }

  const serve = (asked: IncomingMessage, answer: ServerResponse) => {
    const parts: Array<Buffer> = []
    asked.on("data", (part: Buffer) => parts.push(part))
    asked.on("end", () => forward(asked, answer, Buffer.concat(parts)))
    asked.on("error", () => answer.destroy())
  }

  const look = (member: Member) =>
    Effect.promise(async () => {
      const isReady = await fetch(`${member.url}/readyz`, { signal: AbortSignal.timeout(readyWithin) }).then(
        ({ ok }) => ok,
        () => false
      )
      member.failures = isReady ? 0 : member.failures + 1
      member.isReady = member.failures <= mostFailures
      if (!member.isReady) for (const drop of member.drops) drop()
    })
  yield* Effect.suspend(() => Effect.forEach(members, look, { concurrency: "unbounded", discard: true })).pipe(
    Effect.repeat(Schedule.spaced(lookEvery)),
    Effect.forkScoped
  )

  const listening = yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const made = createServer(serve)
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) =>
      Effect.sync(() => {
        made.closeAllConnections()
        made.close()
      })
  )
  const address = listening.address()

  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    join: (url: string) => {
      members = [...members, { url, isReady: true, failures: 0, drops: new Set() }]
    },
    leave: (url: string) => {
      members = members.filter((member) => member.url !== url)
    },
    /** Sends all requests to this server, or distributes them among all servers again. */
    only: (url: string | undefined) => {
      chosen = url
      if (url === undefined) return
      for (const member of members) if (member.url !== url) for (const drop of member.drops) drop()
    },
    ready: () => members.filter(({ isReady }) => isReady).length,
    answered
  }
})
export type Balancer = Effect.Success<ReturnType<typeof balancer>>
