import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { makeWebHandler } from "../../../src/http/HttpApplication.ts"
import { HttpSettings } from "../../../src/http-kit/HttpSettings.ts"
import { checkedAnswers } from "../../support/description/CheckedAnswers.ts"
import { suite } from "../../support/Effect.ts"
import { origin, send, TestApplication } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

const tests = suite(TestApplication.layer)
afterAll(tests.dispose)

const app = "https://app.example.test"
const other = "https://other.example.test"
const bearer = { authorization: "Bearer ada-token" }
const capsules = `/api/v1/workspaces/${world.workspaceA}/capsules`

/** The status code that the fake services return to admitted callers. */
const admitted = 409

/** The test server with allowed origins configured. */
const ask = Effect.fnUntraced(function* (path: string, headers: Record<string, string>, method = "GET") {
  const settings = yield* HttpSettings
  const handler = yield* makeWebHandler.pipe(
    Effect.provideService(HttpSettings, { ...settings, corsOrigins: [app, "http://127.0.0.1:5173"] })
  )
  return yield* Effect.promise(() => checkedAnswers(handler)(new Request(`${origin}${path}`, { method, headers })))
})

const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-") || name === "vary"))

const readable = {
  "access-control-allow-origin": app,
  "access-control-expose-headers":
    "allow, content-disposition, date, etag, retry-after, www-authenticate, x-request-id",
  vary: "origin"
}
const wants = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" }

describe("Cross-origin requests", () => {
  tests.live("a page from a listed origin can read responses and errors of the API and the discovery documents", () =>
    Effect.gen(function* () {
      for (const path of [capsules, "/.well-known/svc", "/openapi.json", "/api/v1/nothing", "/api/v1/runs/run_x"]) {
        const answer = yield* ask(path, { ...bearer, origin: app })
        expect([path, corsOf(answer)]).toEqual([path, readable])
      }
      const unauthenticated = yield* ask(capsules, { origin: app })
      expect([unauthenticated.status, corsOf(unauthenticated)]).toEqual([401, readable])
    })
  )

  tests.live("a preflight from another origin never allows credentials", () =>
    Effect.gen(function* () {
      const answer = yield* ask(capsules, { ...wants, origin: app }, "OPTIONS")
      expect(answer.status).toBe(204)
      expect(corsOf(answer)).toEqual({
        ...readable,
        "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers":
          "authorization, b3, baggage, content-type, idempotency-key, if-none-match, last-event-id, traceparent, tracestate",
        "access-control-max-age": "600"
      })
    })
  )

  tests.live("a page from another origin can act only with a bearer token, and svc ignores its cookies", () =>
    Effect.gen(function* () {
      const cookie = "svc_session=ada-session"
      expect((yield* ask(capsules, { cookie, "sec-fetch-site": "same-origin" })).status).toBe(admitted)
      expect((yield* ask(capsules, { cookie, origin: app })).status).toBe(401)
      expect((yield* ask(capsules, { "x-svc-account-session": "ada-session", origin: app })).status).toBe(401)
      expect((yield* ask(capsules, { ...bearer, cookie, origin: app })).status).toBe(admitted)
    })
  )

  tests.live("a page from an unlisted origin can read nothing, and pages outside the API are never readable", () =>
    Effect.gen(function* () {
      for (const stranger of [
        other,
        `${app}.evil.test`,
        `${app}:443`,
        "null",
        app.toUpperCase(),
        "http://app.example.test"
      ]) {
        const answer = yield* ask(capsules, { ...bearer, origin: stranger })
        expect([stranger, corsOf(answer)]).toEqual([stranger, { vary: "origin" }])
        const asked = yield* ask(capsules, { ...wants, origin: stranger }, "OPTIONS")
        expect([stranger, asked.status, corsOf(asked)]).toEqual([stranger, 405, { vary: "origin" }])
      }
      for (const path of ["/auth/session", "/auth/offer", "/healthz", "/internal/v1/operators"]) {
        expect([path, corsOf(yield* ask(path, { origin: app }))]).toEqual([path, {}])
        const asked = yield* ask(path, { ...wants, origin: app }, "OPTIONS")
        // Load balancers send OPTIONS as a health check.
        expect([path, asked.status, corsOf(asked)]).toEqual([path, path === "/healthz" ? 200 : 405, {}])
      }
    })
  )

  tests.live("a server without listed origins allows no cross-origin requests", () =>
    Effect.gen(function* () {
      const read = yield* send(capsules, { headers: { ...bearer, origin: app } })
      expect([read.status, corsOf(read)]).toEqual([admitted, {}])
      const asked = yield* send(capsules, { method: "OPTIONS", headers: { ...wants, origin: app } })
      expect([asked.status, corsOf(asked)]).toEqual([405, {}])
    })
  )
})
