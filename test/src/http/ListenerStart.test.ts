import { expect } from "bun:test"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { Draining } from "../../../src/streams/Draining.ts"
import { WebSockets } from "../../../src/streams/WebSockets.ts"
import { SkipDrainGrace } from "../../../actors/running/execution/SkipDrainGrace.ts"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"

const address = { host: "127.0.0.1", port: 0 }

const ask = (url: string, method = "GET") => Effect.promise(() => fetch(url, { method }))

it.live("before the service is ready, the process is live and responds with the time to retry", () =>
  Effect.gen(function* () {
    const { url } = yield* HttpListener
    expect((yield* ask(`${url}/healthz`)).status).toBe(200)
    for (const path of ["/readyz", "/api/v1/workspaces", "/healthz/more"]) {
      const answer = yield* ask(`${url}${path}`)
      expect(answer.status).toBe(503)
      expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/)
    }
  }).pipe(
    Effect.provide(HttpListener.layer(address).pipe(Layer.provide(WebSockets.layer), Layer.provide(Draining.layer)))
  )
)

it.live("discovery, the API and the readiness check become available in the same step", () =>
  Effect.gen(function* () {
    const listener = yield* HttpListener
    const statuses = Effect.forEach(["/.well-known/svc", "/api/v1/workspaces", "/readyz", "/"], (path) =>
      Effect.map(ask(`${listener.url}${path}`), ({ status }) => status)
    )
    expect(yield* statuses).toEqual([503, 503, 503, 503])
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* listener.mount(() => Promise.resolve(new Response("served")))
        expect(yield* statuses).toEqual([200, 200, 200, 200])
      })
    )
  }).pipe(
    Effect.provide(HttpListener.layer(address).pipe(Layer.provide(WebSockets.layer), Layer.provide(Draining.layer)))
  )
)

it.live("every response has exactly one Date header, so that clients can compare their clocks", () =>
  Effect.gen(function* () {
    const listener = yield* HttpListener
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* listener.mount(({ method, url }) => {
          const status = Number(new URL(url).pathname.slice(1))
          return Promise.resolve(new Response(status === 200 && method !== "HEAD" ? "body" : null, { status }))
        })
        for (const method of ["HEAD", "GET", "POST"]) {
          for (const status of [200, 204, 302, 304, 404]) {
            const { headers } = yield* ask(`${listener.url}/${status}`, method)
            expect([method, status, headers.get("date")]).toEqual([
              method,
              status,
              expect.stringMatching(/^\w{3}, [^,]* GMT$/)
            ])
          }
        }
      })
    )
  }).pipe(
    Effect.provide(HttpListener.layer(address).pipe(Layer.provide(WebSockets.layer), Layer.provide(Draining.layer)))
  )
)

it.live("a page from a listed origin can see that the server is starting or stopping, and when to retry", () =>
  Effect.gen(function* () {
    const page = "https://app.example.com"
    const stopping = yield* Deferred.make<void>()
    const seen = (answer: Response) => [
      answer.status,
      answer.headers.get("access-control-allow-origin"),
      answer.headers.get("access-control-expose-headers")?.includes("retry-after"),
      answer.headers.get("vary")
    ]
    const from = (origin: string, url: string, init: RequestInit = {}) =>
      Effect.map(
        Effect.promise(() => fetch(url, { ...init, headers: { ...init.headers, origin } })),
        seen
      )
    const preflight = { method: "OPTIONS", headers: { "access-control-request-method": "POST" } }
    const running = Effect.gen(function* () {
      const listener = yield* HttpListener
      const runs = `${listener.url}/api/v1/runs/run_a/apply`
      const starting = [
        yield* from(page, runs, preflight),
        yield* from(page, runs, { method: "POST" }),
        yield* from("https://evil.example.com", runs, preflight),
        yield* from(page, `${listener.url}/auth/sign-in`)
      ]
      yield* listener.mount(() => Promise.resolve(new Response("mounted")))
      return { runs, starting }
    })
    const scope = yield* Scope.make()
    const draining = Draining.layer
    const services = yield* Layer.buildWithScope(
      HttpListener.layer(address, { corsOrigins: [page], drainDelay: "1 hour" }).pipe(
        Layer.provide(WebSockets.layer),
        Layer.provideMerge(draining)
      ),
      scope
    ).pipe(Effect.provideService(SkipDrainGrace, Deferred.await(stopping)))
    const { runs, starting } = yield* running.pipe(Effect.provideContext(services), Scope.provide(scope))
    expect(starting).toEqual([
      [204, page, true, "origin"],
      [503, page, true, "origin"],
      [503, null, undefined, "origin"],
      [503, null, undefined, null]
    ])
    const closing = yield* Effect.forkScoped(Scope.close(scope, Exit.void))
    yield* eventually(Effect.sync(Context.get(services, Draining).begun), (begun) => begun)
    expect(yield* from(page, runs, { method: "POST" })).toEqual([503, page, true, "origin"])
    yield* Deferred.succeed(stopping, undefined)
    yield* Fiber.join(closing)
  }).pipe(Effect.scoped)
)

it.live("when the drain grace is skipped, a hanging request does not keep the listener open", () =>
  Effect.gen(function* () {
    const skipGrace = yield* Deferred.make<void>()
    const arrived = yield* Deferred.make<void>()
    const served = Effect.gen(function* () {
      const listener = yield* HttpListener
      yield* listener.mount(() => {
        Deferred.doneUnsafe(arrived, Effect.void)
        return Promise.withResolvers<Response>().promise
      })
      const hanging = yield* Effect.forkDetach(
        Effect.promise(() =>
          fetch(listener.url).then(
            () => "answered",
            () => "cut"
          )
        )
      )
      yield* Deferred.await(arrived)
      yield* Deferred.succeed(skipGrace, undefined)
      return hanging
    }).pipe(
      Effect.scoped,
      Effect.provide(
        HttpListener.layer(address, { drainDelay: "1 hour" }).pipe(
          Layer.provide(WebSockets.layer),
          Layer.provide(Draining.layer)
        )
      ),
      Effect.provideService(SkipDrainGrace, Deferred.await(skipGrace))
    )
    expect(yield* Fiber.join(yield* served)).toBe("cut")
  })
)

it.live(
  "a listener fails if the address is already in use, and does not affect the process that uses the address",
  () =>
    Effect.gen(function* () {
      const listening = (at: typeof address) =>
        Layer.build(
          Layer.fresh(HttpListener.layer(at).pipe(Layer.provide(WebSockets.layer), Layer.provide(Draining.layer)))
        )
      const first = Context.get(yield* listening(address), HttpListener)
      const refused = yield* Effect.flip(Effect.scoped(listening(first.address)))
      expect(refused._tag).toBe("ListenRefused")
      expect(refused.message).toContain(`127.0.0.1:${first.address.port}`)
      expect((yield* ask(`${first.url}/healthz`)).status).toBe(200)
    })
)
