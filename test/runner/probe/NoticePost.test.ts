import { expect } from "bun:test"
import { createServer } from "node:https"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { AddressResolver } from "../../../runner/git/AddressResolver.ts"
import { NoticePost } from "../../../runner/probe/NoticePost.ts"
import { selfSignedCertificate } from "../../fixtures/provider/Certificate.ts"
import { it } from "../../support/Effect.ts"
import { loopback } from "../../support/LoopbackServer.ts"

const sendTo = Effect.fnUntraced(function* (address: string, allowOrigins: ReadonlyArray<string>) {
  const post = yield* NoticePost
  return yield* post.send({ address, allowOrigins, headers: { "webhook-id": "ntc_x" }, body: '{"a":"日本"}' })
})

/** Starts a receiver with this response, and collects the requests that it receives. */
const receiver = Effect.fnUntraced(function* (status: number, headers: Readonly<Record<string, string>> = {}) {
  const got: Array<{ readonly url: string; readonly id: unknown; readonly body: string }> = []
  const origin = yield* loopback((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      got.push({ url: request.url ?? "", id: request.headers["webhook-id"], body: Buffer.concat(parts).toString() })
      response.writeHead(status, headers).end("the answer is not kept")
    })
  })
  return { origin, got }
})

for (const [status, headers, expected] of [
  [200, {}, { outcome: "accepted", status: 200 }],
  [299, {}, { outcome: "accepted", status: 299 }],
  [500, {}, { outcome: "refused", status: 500 }],
  [410, {}, { outcome: "gone", status: 410 }],
  [429, { "retry-after": "120" }, { outcome: "refused", status: 429, retryAfter: 120 }],
  [503, { "retry-after": "soon" }, { outcome: "refused", status: 503 }]
] as const) {
  it.live(`a receiver that responds with ${status} ${JSON.stringify(headers)} is ${expected.outcome}`, () =>
    Effect.gen(function* () {
      const { got, origin } = yield* receiver(status, headers)
      const result = yield* sendTo(`${origin}/hook?key=1`, [origin])
      expect(result).toEqual(expected)
      expect(got).toEqual([{ url: "/hook?key=1", id: "ntc_x", body: '{"a":"日本"}' }])
    })
  )
}

it.live("svc does not follow a redirect from a notice's receiver", () =>
  Effect.gen(function* () {
    const target = yield* receiver(200)
    const { origin } = yield* receiver(307, { location: `${target.origin}/elsewhere` })
    expect(yield* sendTo(`${origin}/`, [origin, target.origin])).toEqual({ outcome: "redirected", status: 307 })
    expect(target.got).toEqual([])
  })
)

it.effect("a notice to a receiver that does not respond within 15 seconds times out", () =>
  Effect.gen(function* () {
    let arrived = () => {}
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const origin = yield* loopback(() => arrived())
    const sending = yield* Effect.forkScoped(sendTo(`${origin}/`, [origin]))
    yield* Effect.promise(() => waiting)
    yield* TestClock.adjust("14 seconds")
    expect(sending.pollUnsafe()).toBeUndefined()
    yield* TestClock.adjust("1 second")
    expect(yield* Fiber.join(sending)).toEqual({ outcome: "timed_out" })
  })
)

it.live("a notice is not sent to a receiver with an untrusted certificate", () =>
  Effect.gen(function* () {
    const { key, pem: cert } = yield* Effect.promise(() => selfSignedCertificate(new Date()))
    let requests = 0
    const server = createServer({ key, cert }, (_, response) => {
      requests++
      response.end()
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () => Effect.sync(() => server.close())
    )
    const address = server.address()
    const origin = `https://localhost:${typeof address === "object" ? address?.port : 0}`
    expect(yield* sendTo(`${origin}/`, [origin])).toEqual({ outcome: "tls" })
    expect(requests).toBe(0)
  })
)

it.live("a notice to a receiver that does not exist is reported as unreachable", () =>
  Effect.gen(function* () {
    const origin = "http://127.0.0.1:1"
    expect(yield* sendTo(`${origin}/`, [origin])).toEqual({ outcome: "unreachable" })
  })
)

it.live("before each attempt, a notice is refused if its receiver's name resolves to a private address", () =>
  Effect.gen(function* () {
    const { got, origin } = yield* receiver(200)
    const port = new URL(origin).port
    const address = `https://hooks.example.test:${port}/`
    const answers: Array<ReadonlyArray<string>> = [["127.0.0.1"], ["203.0.113.9", "127.0.0.1"], ["10.0.0.1"], ["::1"]]
    for (const found of answers) {
      const result = yield* Effect.provideService(sendTo(address, []), AddressResolver, {
        resolve: () => Effect.succeed(found)
      })
      expect([found, result]).toEqual([found, { outcome: "address_refused" }])
    }
    expect(got).toEqual([])
  })
)

it.live("a notice is not sent to a receiver address that the policy no longer allows", () =>
  Effect.gen(function* () {
    const { got, origin } = yield* receiver(200)
    expect(yield* sendTo(`${origin}/`, [])).toEqual({ outcome: "address_refused" })
    expect(got).toEqual([])
  })
)

it.live("a notice is not sent over plain HTTP or to unusual ports, even at a public address", () =>
  Effect.gen(function* () {
    for (const address of ["http://hooks.example.test/", "https://hooks.example.test:22/"]) {
      const result = yield* Effect.provideService(sendTo(address, []), AddressResolver, {
        resolve: () => Effect.succeed(["8.8.8.8"])
      })
      expect([address, result]).toEqual([address, { outcome: "address_refused" }])
    }
  })
)
