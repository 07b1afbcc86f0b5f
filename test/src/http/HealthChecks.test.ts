import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { OperatorListener } from "../../../src/observability/OperatorListener.ts"
import { Draining } from "../../../src/streams/Draining.ts"
import { WebSockets } from "../../../src/streams/WebSockets.ts"
import { it, suite } from "../../support/Effect.ts"
import { answersIn, exchange } from "./raw/RawExchange.ts"
import { TestApplication } from "./support/TestApplication.ts"
import { TestServer } from "./support/TestServer.ts"

const tests = suite(TestServer.layer.pipe(Layer.provideMerge(TestApplication.layer)))
afterAll(tests.dispose)

/** HAProxy's `option httpchk /healthz` sends OPTIONS over HTTP/1.0; other load balancers send GET or HEAD. */
const methods = ["OPTIONS", "GET", "HEAD"]
const check = (method: string, path: string) => `${method} ${path} HTTP/1.0\r\n\r\n`
const statusesOf = Effect.fnUntraced(function* (port: number, requests: ReadonlyArray<string>) {
  const answers = yield* Effect.forEach(requests, (request) => exchange(port, request))
  return answers.map((text) => answersIn(text)[0])
})

describe("HTTP/1.0 health checks", () => {
  tests.live("an HTTP/1.0 health check gets a response, and the connection is closed", () =>
    Effect.gen(function* () {
      const { port } = yield* TestServer
      for (const path of ["/healthz", "/readyz", "/healthz?from=haproxy"]) {
        expect(
          yield* statusesOf(
            port,
            methods.map((method) => check(method, path))
          )
        ).toEqual(["200", "200", "200"])
      }
      expect(yield* exchange(port, check("GET", "/readyz"))).toContain('{"status":"ok"}')
    })
  )

  tests.live("HTTP/1.0 requests without a Host header are still rejected unless they are health checks", () =>
    Effect.gen(function* () {
      const { port } = yield* TestServer
      const refused = [
        check("GET", "/.well-known/svc"),
        check("GET", "/healthz/more"),
        check("GET", "//healthz"),
        check("GET", "//elsewhere.example/healthz"),
        check("OPTIONS", "/")
      ]
      expect(yield* statusesOf(port, refused)).toEqual(refused.map(() => "400 invalid_request"))
      expect(yield* statusesOf(port, [check("POST", "/healthz"), check("TRACE", "/healthz")])).toEqual([
        "405 method_not_allowed",
        "405 method_not_allowed"
      ])
      expect(yield* statusesOf(port, ["GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n"])).toEqual(["400"])
    })
  )

  it.live("an HTTP/1.0 health check gets a response while the service starts", () =>
    Effect.gen(function* () {
      const { address } = yield* HttpListener
      const requests = methods.flatMap((method) => [check(method, "/healthz"), check(method, "/readyz")])
      expect((yield* statusesOf(address.port, requests)).map((answer) => answer?.slice(0, 3))).toEqual(
        methods.flatMap(() => ["200", "503"])
      )
    }).pipe(
      Effect.provide(
        HttpListener.layer({ host: "127.0.0.1", port: 0 }).pipe(Layer.provide([WebSockets.layer, Draining.layer]))
      )
    )
  )

  it.live("an HTTP/1.0 health check gets a response from the operator's listener", () =>
    Effect.gen(function* () {
      const { up, url = "" } = yield* OperatorListener
      const port = Number(new URL(url).port)
      const requests = methods.flatMap((method) => [check(method, "/healthz"), check(method, "/readyz")])
      expect(yield* statusesOf(port, requests)).toEqual(methods.flatMap(() => ["200", "503"]))
      yield* up(Effect.succeed("ready"))
      expect(yield* statusesOf(port, requests)).toEqual(requests.map(() => "200"))
    }).pipe(Effect.scoped, Effect.provide(OperatorListener.layer({ host: "127.0.0.1", port: 0 })))
  )
})
