import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { AgentSessions } from "../../../actors/running/agent-pool/AgentSessions.ts"
import { Pools } from "../../../actors/running/agent-pool/Pools.ts"
import { Unauthorised } from "../../../schema/agent/AgentRefusal.ts"
import { mostStrangerBytes } from "../../../src/http/agent/AgentRoutes.ts"
import { describedApi } from "../../../src/http/OpenApiDocument.ts"
import { Exchange } from "../../../src/http-kit/Exchange.ts"
import { mostDeliveries, mostDeliveryBytes } from "../../../src/http/SourceHooks.ts"
import { testDatabase } from "../../support/Database.ts"
import { it } from "../../support/Effect.ts"
import { testTime, TestTime } from "../accounts/oidc/support/TestTime.ts"
import { applicationOver, origin, TestApplication } from "./support/TestApplication.ts"
import { seed, world } from "./support/World.ts"

setDefaultTimeout(120_000)

const Operation = Schema.Struct({
  security: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Schema.Record(Schema.String, Schema.Json) }))
})
const { paths } = Schema.decodeUnknownSync(
  Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)) })
)(JSON.parse(JSON.stringify(OpenApi.fromApi(describedApi()))))

/** The declared routes that answer callers without a credential, with the type of their body. */
const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody, security = [] }]) => {
    const isOpen = security.length === 0 || security.some((scheme) => Object.keys(scheme).length === 0)
    const name = `${method.toUpperCase()} ${path}`
    return isOpen
      ? [{ name, method: method.toUpperCase(), path, type: Object.keys(requestBody?.content ?? {})[0] }]
      : []
  })
)

const documented = () => {
  const page = readFileSync(new URL("../../../docs/security.md", import.meta.url), "utf8")
  const [, section = ""] = page.split("## Routes without a credential\n")
  const rows = section.split("\n## ")[0]?.split("\n") ?? []
  return rows
    .filter((row) => row.startsWith("| `"))
    .flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([A-Z]+ [^`]+)`/g)].map(([, name]) => name))
}

test("docs/security.md lists exactly the routes that require no credential", () => {
  expect(documented().toSorted()).toEqual([...routes.map(({ name }) => name), "GET /*", "GET /docs/*"].toSorted())
})

let challenges = 0
const application = applicationOver(
  Layer.mergeAll(
    Layer.mock(Pools)({ exist: Effect.succeed(true) }),
    Layer.mock(AgentSessions)({
      of: () => Effect.fail(new Unauthorised({ message: "The session is over.", retry: true })),
      challenge: () => Effect.sync(() => ({ nonce: String((challenges += 1)) }))
    })
  )
).pipe(Layer.provide(Layer.effectDiscard(seed)), Layer.provideMerge(testDatabase))

const pathOf = (path: string) => path.replace("{sourceId}", world.sourceId).replace(/\{\w+\}/g, "x")

const pieceBytes = 16 * 1024
/** Creates a body that never ends. `pulled` counts the bytes that were read. */
const endless = () => {
  const state = { pulled: 0 }
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      state.pulled += pieceBytes
      controller.enqueue(new Uint8Array(pieceBytes).fill(0x20))
    }
  })
  return { state, body }
}

/** Creates a body that stops after its first byte. */
const silent = () =>
  new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array([0x20])) })

const send = Effect.fnUntraced(function* (
  { method, path, type }: { readonly method: string; readonly path: string; readonly type?: string | undefined },
  body: BodyInit,
  {
    clock,
    headers = {},
    remoteAddress
  }: {
    readonly clock?: Clock.Clock
    readonly headers?: Readonly<Record<string, string>>
    readonly remoteAddress?: string
  } = {}
) {
  const { handler } = yield* TestApplication
  const init = { method, body, headers: { "content-type": type ?? "application/json", ...headers }, duplex: "half" }
  const request = new Request(`${origin}${pathOf(path)}`, init)
  const exchange = { requestId: "req_test", bodyReceived: () => {}, remoteAddress }
  const context = Context.make(Exchange, exchange)
  return yield* Effect.promise(() =>
    handler(request, clock === undefined ? context : Context.add(context, Clock.Clock, clock))
  )
})

const withBody = routes.filter(({ type }) => type !== undefined)
const rpc = { method: "POST", path: "/agent/v1/rpc", type: "application/x-ndjson" }
const hook = { method: "POST", path: "/hooks/sources/{sourceId}", type: "application/json" }
const forge = { authorization: "Bearer hook-secret" }

const challenge = (id: number) =>
  `${JSON.stringify({ _tag: "Request", id: String(id), tag: "Challenge", payload: { agentId: `agt_${"a".repeat(24)}` }, headers: [] })}\n`

describe("Public routes", () => {
  it.live("a public route reads an endless body only up to its limit", () =>
    Effect.gen(function* () {
      for (const route of withBody) {
        const { body, state } = endless()
        const { status } = yield* send(route, body, { headers: route.path === hook.path ? forge : {} })
        expect([route.name, status >= 400 && status < 500]).toEqual([route.name, true])
        const bound = route.path === hook.path ? mostDeliveryBytes : mostStrangerBytes
        expect([route.name, state.pulled <= bound + 8 * pieceBytes]).toEqual([route.name, true])
      }
    }).pipe(Effect.provide(application))
  )

  it.live("a public route responds when its deadline expires, even if the request body never arrives", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestTime
      // Ends every sleep of half a minute immediately, because that is the deadline for the body.
      const hurried: Clock.Clock = {
        ...clock,
        sleep: (duration) => (Duration.toSeconds(duration) === 30 ? Effect.void : clock.sleep(duration))
      }
      for (const route of withBody) {
        const headers = route.path === hook.path ? forge : {}
        const { status } = yield* send(route, silent(), { clock: hurried, headers })
        expect([route.name, status >= 400 && status < 500]).toEqual([route.name, true])
      }
      const late = yield* send(rpc, silent(), { clock: hurried })
      expect([late.status, yield* Effect.promise(() => late.text())]).toEqual([
        400,
        expect.stringContaining("30 seconds")
      ])
    }).pipe(Effect.provide([application, testTime]))
  )
})

describe("Unauthenticated agent messages", () => {
  it.live("an agent without a session may send one message per request", () =>
    Effect.gen(function* () {
      const before = challenges
      const many = Array.from({ length: 300 }, (_, index) => challenge(index)).join("")
      for (const body of [
        many,
        challenge(1) + challenge(2),
        `${challenge(1)} `,
        "[",
        `${"[".repeat(100)}${"]".repeat(100)}`
      ]) {
        expect((yield* send(rpc, body)).status).toBe(400)
      }
      expect((yield* send(rpc, "x".repeat(mostStrangerBytes + 1))).status).toBe(413)
      expect(challenges).toBe(before)
      expect((yield* send(rpc, challenge(1))).status).toBe(200)
      expect(challenges).toBe(before + 1)
    }).pipe(Effect.provide(application))
  )

  it.live("messages and deliveries without a session are limited to 600 a minute per address", () =>
    Effect.gen(function* () {
      const { clock, stop } = yield* TestTime
      yield* stop
      for (const [route, body] of [
        [rpc, challenge(1)],
        [hook, "{}"]
      ] as const) {
        const statuses = new Set<number>()
        const one = (remoteAddress: string) => send(route, body, { clock, remoteAddress, headers: forge })
        for (let count = 0; count < 600; count += 1) statuses.add((yield* one("192.0.2.1")).status)
        expect(statuses.has(429)).toBe(false)
        const limited = yield* one("192.0.2.1")
        expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "1"])
        expect((yield* one("192.0.2.2")).status).not.toBe(429)
      }
    }).pipe(Effect.provide([application, testTime]))
  )
})

describe("Webhook deliveries", () => {
  it.live("a Source accepts eight deliveries at a time, and further deliveries get 503", () =>
    Effect.gen(function* () {
      const bodies = Array.from({ length: mostDeliveries }, () => new TransformStream<Uint8Array, Uint8Array>())
      const writers = bodies.map(({ writable }) => writable.getWriter())
      const { handler } = yield* TestApplication
      const arriving = bodies.map(({ readable }) => {
        const headers = { "content-type": "application/json", ...forge }
        const init = { method: "POST", body: readable, headers, duplex: "half" }
        return handler(new Request(`${origin}${pathOf(hook.path)}`, init))
      })
      // These writes complete only once the server is reading all the bodies.
      yield* Effect.promise(() => Promise.all(writers.map((writer) => writer.write(new TextEncoder().encode("{")))))
      const refused = yield* send(hook, "{}", { headers: forge })
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"])
      yield* Effect.promise(() => Promise.all(writers.map((writer) => writer.close())))
      const answers = yield* Effect.promise(() => Promise.all(arriving))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
      expect((yield* send(hook, "{}", { headers: forge })).status).toBe(202)
    }).pipe(Effect.provide(application))
  )

  it.live("a delivery may be up to 25 MiB long", () =>
    Effect.gen(function* () {
      const { handler } = yield* TestApplication
      const sent = (bytes: number) =>
        Effect.promise(() =>
          handler(
            new Request(`${origin}${pathOf(hook.path)}`, {
              method: "POST",
              body: new Uint8Array(bytes),
              headers: {
                "content-type": "application/json",
                authorization: "Bearer hook-secret",
                "x-github-event": "ping"
              }
            })
          )
        )
      expect((yield* sent(mostDeliveryBytes)).status).toBe(200)
      expect((yield* sent(mostDeliveryBytes + 1)).status).toBe(413)
    }).pipe(Effect.provide(application))
  )
})
