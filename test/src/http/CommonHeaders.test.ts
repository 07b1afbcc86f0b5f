import { afterAll, describe, expect } from "bun:test"
import { Effect, Schema } from "effect"
import { longestReadHere } from "../../../runner/document/Documents.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { ErrorEnvelope } from "../../../schema/errors/ApiError.ts"
import { bodyLimitsOf } from "../../../src/http-kit/RequestBody.ts"
import { suite } from "../../support/Effect.ts"
import { defectText } from "./support/FakeActors.ts"
import { origin, send, TestApplication } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

const tests = suite(TestApplication.layer)
afterAll(tests.dispose)

const decodeEnvelope = Schema.decodeUnknownEffect(ErrorEnvelope)
const session = { cookie: "svc_session=ada-session", "sec-fetch-site": "same-origin" }
const json = { ...session, "content-type": "application/json" }

const refusal = Effect.fn("refusal")(function* (path: string, init: RequestInit = {}) {
  const response = yield* send(path, init)
  const { error } = yield* decodeEnvelope(yield* Effect.promise(() => response.json()))
  expect(response.headers.get("x-request-id")).toBe(error.requestId)
  return { status: response.status, code: error.code, message: error.message, headers: response.headers }
})

const post = (path: string, body: BodyInit, headers: Record<string, string> = json) =>
  refusal(path, { method: "POST", headers, body })

describe("Common headers", () => {
  tests.live("an unknown route returns 404 in the error envelope, even under a retired prefix", () =>
    Effect.gen(function* () {
      for (const path of [
        "/v1/capsules",
        "/v1/workspaces",
        "/api/v1/nothing",
        "/api/v1//capsule-configs",
        "/api/v1/Capsule-Configs",
        `/api/v1/capsules/${world.capsuleId}/`,
        "/api/v2/capsules",
        "/internal/v1/runs",
        "/no-such-page"
      ]) {
        expect(yield* refusal(path, { headers: session })).toMatchObject({ status: 404, code: "not_found" })
      }
    })
  )

  tests.live("a known path returns 405 with Allow for unsupported methods", () =>
    Effect.gen(function* () {
      const capsules = yield* refusal(`/api/v1/workspaces/${world.workspaceA}/capsules`, { method: "POST" })
      expect(capsules).toMatchObject({ status: 405, code: "method_not_allowed" })
      expect(capsules.headers.get("allow")).toBe("GET, HEAD")
      const hook = yield* refusal(`/hooks/sources/${world.sourceId}`)
      expect(hook.headers.get("allow")).toBe("POST")
      for (const method of ["OPTIONS", "PROPFIND"]) {
        const answer = yield* refusal("/api/v1/capabilities", { method })
        expect(answer.status).toBe(405)
        expect(answer.headers.get("access-control-allow-origin")).toBeNull()
      }
    })
  )

  tests.live("responses about account tokens are never cacheable, including refusals", () =>
    Effect.gen(function* () {
      for (const [path, init, status] of [
        ["/api/v1/account/tokens", {}, 401],
        ["/api/v1/account/tokens/nothing/here", {}, 404],
        ["/api/v1/account/tokens/scopes", { method: "DELETE" }, 405],
        ["/api/v1/account/tokens", { method: "POST", headers: json, body: "{" }, 400],
        ["/api/v1/account/tokens", { method: "POST", headers: json, body: "x".repeat(1_048_577) }, 413],
        ["/api/v1/account/tokens", { headers: session }, 409]
      ] satisfies ReadonlyArray<readonly [string, RequestInit, number]>) {
        const answer = yield* refusal(path, init)
        expect(answer.status).toBe(status)
        expect(answer.headers.get("cache-control")).toBe("no-store")
        expect(answer.headers.get("pragma")).toBe("no-cache")
      }
    })
  )

  tests.live("the API reads only JSON, and returns 415 for other types and compressed bodies", () =>
    Effect.gen(function* () {
      const path = `/api/v1/workspaces/${world.workspaceA}/install-plans`
      for (const headers of [
        { ...session, "content-type": "text/plain" },
        { ...session, "content-type": "application/json; charset=utf-16" },
        { ...session, "content-type": "application/x-www-form-urlencoded" },
        { ...json, "content-encoding": "gzip" }
      ]) {
        expect(yield* post(path, "{}", headers)).toMatchObject({ status: 415, code: "unsupported_media_type" })
      }
      const untyped = yield* post(path, new TextEncoder().encode("{}"), session)
      expect(untyped).toMatchObject({ status: 415 })
      const utf8 = yield* post(path, "{}", { ...session, "content-type": "application/json; charset=UTF-8" })
      expect(utf8).toMatchObject({ status: 400 })
    })
  )

  tests.live("the API limits bodies by bytes and structure before it validates their schema", () =>
    Effect.gen(function* () {
      const path = `/api/v1/runs/${world.runId}/cancel`
      const big = yield* post(path, JSON.stringify({ reason: "x".repeat(1_048_600) }))
      expect(big).toMatchObject({ status: 413, code: "request_too_large" })
      for (const body of [
        '{"reason":"a","reason":"b"}',
        `{"reason":${"[".repeat(100)}${"]".repeat(100)}}`,
        '{"reason":"\\ud800"}',
        "{reason:1}",
        "null",
        "[]",
        '"text"',
        '\u{feff}{"reason":"a"}',
        '{"reason":1}',
        '{"reason":"fine","extra":"secret-value"}',
        '{"__proto__":{"reason":"a"}}'
      ]) {
        const answer = yield* post(path, body)
        expect(`${body.slice(0, 30)} ${answer.status} ${answer.code}`).toBe(`${body.slice(0, 30)} 400 invalid_request`)
        expect(answer.message).not.toContain("secret-value")
      }
      expect(yield* post(path, '{"reason":"fine"}')).toMatchObject({ status: 409, code: "run_conflict" })
      expect(
        yield* refusal(`/api/v1/capsules/${world.capsuleId}/plan`, { method: "POST", headers: session })
      ).toMatchObject({
        status: 409
      })
    })
  )

  tests.live("every route rejects a body that is too long to be parsed on the main thread", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ workspaceId: world.workspaceA, files: ["x".repeat(longestReadHere)] })
      let tried = 0
      for (const group of Object.values(SvcApi.groups)) {
        for (const { identifier, method, path } of Object.values(group.endpoints)) {
          if (method !== "POST" && method !== "PUT" && method !== "PATCH") continue
          const limit = bodyLimitsOf(`${group.identifier}.${identifier}`).maxBytes
          expect([path, limit <= longestReadHere]).toEqual([path, true])
          tried += 1
        }
      }
      expect(tried).toBeGreaterThan(50)
      expect(yield* post("/api/v1/connections", body)).toMatchObject({ status: 413, code: "request_too_large" })
    })
  )

  tests.live("a validation error contains the names of invalid fields, never their values", () =>
    Effect.gen(function* () {
      const answer = yield* post(
        `/api/v1/workspaces/${world.workspaceA}/install-plans`,
        JSON.stringify({ source: { name: "hunter2-secret", url: 7 }, capsule: {}, variables: { "bad name": 1 } })
      )
      expect(answer.status).toBe(400)
      expect(answer.message).toContain("body.source.url")
      expect(answer.message).toContain("body.capsule.name")
      expect(answer.message).not.toContain("hunter2")
      for (const [query, expected] of [
        ["limit=0", "query.limit: Expected a whole number from 1 to 100"],
        ["limit=0x10", "query.limit: Expected a whole number from 1 to 100"],
        ["limit=1000", "query.limit"],
        ["limit=1&limit=2", "query.limit"],
        ["cursor=a&cursor=b", "query.cursor"],
        ["nope=1", "query.nope: is not a known field"]
      ] as const) {
        const refused = yield* refusal(`/api/v1/sources?workspaceId=${world.workspaceA}&${query}`, { headers: session })
        expect(refused).toMatchObject({ status: 400, code: "invalid_request" })
        expect(refused.message).toContain(expected)
      }
    })
  )

  tests.live("a validation error never repeats an unknown field name that may be a misplaced secret", () =>
    Effect.gen(function* () {
      for (const name of [
        "svcp_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2y",
        "ghp_secretsecretsecret",
        "AKIAIOSFODNN7EXAMPLE",
        "correct horse battery",
        "d41d8cd98f00b204e9800998ecf8427e",
        "n".repeat(41),
        "wJalrXUtnFEMI/K7MDENG"
      ]) {
        const refusals = [
          yield* post(`/api/v1/workspaces/${world.workspaceA}/install-plans`, JSON.stringify({ [name]: 1 })),
          yield* refusal(`/api/v1/sources?workspaceId=${world.workspaceA}&${encodeURIComponent(name)}=1`, {
            headers: session
          })
        ]
        for (const refused of refusals) {
          expect(refused).toMatchObject({ status: 400, code: "invalid_request" })
          expect(refused.message).toContain("is not a known field")
          expect(refused.message).not.toContain(name.slice(0, 12))
        }
      }
    })
  )

  tests.live("create requests that need an Idempotency-Key accept exactly one well-formed key", () =>
    Effect.gen(function* () {
      const path = `/api/v1/capsules/${world.capsuleId}/revision-plans`
      const body = JSON.stringify({ ref: "main" })
      expect(yield* post(path, body)).toMatchObject({ status: 400, code: "idempotency_key_required" })
      for (const key of ["", "a, b", "a b", "x".repeat(129), "é"]) {
        expect(yield* post(path, body, { ...json, "idempotency-key": key })).toMatchObject({
          status: 400,
          code: "invalid_request"
        })
      }
      expect(yield* post(path, body, { ...json, "idempotency-key": "key-1" })).toMatchObject({ status: 409 })
    })
  )

  tests.live("discovery and the API definition are published only under the configured origin", () =>
    Effect.gen(function* () {
      for (const path of ["/.well-known/svc", "/api/v1/capabilities"]) {
        const response = yield* send(path, { headers: { "x-forwarded-host": "evil.example.test" } })
        const document = yield* Effect.promise(() => response.json())
        expect(document).toMatchObject({ product: "svc", apiBaseUrl: `${origin}/api/v1` })
        expect(JSON.stringify(document)).not.toContain("evil")
        expect(document.endpoints.extensions).toBe(`${origin}/api/v1/extensions`)
        expect(Object.keys(document.features).toSorted()).toEqual([
          "interfaces",
          "oidc",
          "opentofu_runner",
          "stacks",
          "workload_identity"
        ])
      }
      const families = yield* Effect.flatMap(send("/api/v1/extensions"), (response) =>
        Effect.promise(() => response.json())
      )
      expect(JSON.stringify(families)).toContain("POST /api/v1/capsules/:capsuleId/exports")
      const openapi = yield* Effect.flatMap(send("/openapi.json"), (response) => Effect.promise(() => response.json()))
      expect(openapi.servers).toEqual([{ url: origin }])
      expect(Object.keys(openapi.paths).length).toBeGreaterThan(70)
      const paths: Record<string, Record<string, Record<string, unknown>>> = openapi.paths
      for (const [path, methods] of Object.entries(paths)) {
        for (const { description, operationId, responses, summary } of Object.values(methods)) {
          expect([operationId, String(summary).length > 3, String(description)]).toEqual([
            operationId,
            true,
            expect.stringContaining("**Access:**")
          ])
          if (path.startsWith("/api/")) {
            expect(JSON.stringify(responses)).toMatch(
              /"403":\{(?:"\$ref":"#\/components\/responses\/Forbidden"|.*`permission_denied`)/
            )
          }
        }
      }
      expect(openapi.components.responses.Forbidden.description).toContain("`permission_denied`")
      expect(openapi.paths["/api/v1/account/tokens"].get.security).toEqual([{ session: [] }])
      expect(openapi.paths["/api/v1/runs/{runId}"].get.security).toEqual([{ session: [] }, { bearer: [] }])
      expect(openapi.paths["/.well-known/svc"].get.security).toEqual([])
      expect(Object.keys(openapi.components.securitySchemes)).toEqual(["session", "bearer", "client"])
    })
  )

  tests.live("HEAD responds like GET without a body, and health needs no authentication", () =>
    Effect.gen(function* () {
      const head = yield* send("/api/v1/capabilities", { method: "HEAD" })
      expect([head.status, yield* Effect.promise(() => head.text())]).toEqual([200, ""])
      expect((yield* send("/healthz")).status).toBe(200)
      expect((yield* send("/readyz")).status).toBe(200)
    })
  )

  tests.live("webhook routes pass the raw bytes of a delivery to the Source", () =>
    Effect.gen(function* () {
      const hook = (headers: Record<string, string>) =>
        send(`/hooks/sources/${world.sourceId}`, { method: "POST", headers, body: '{ "a" : 1 }' })
      const accepted = yield* hook({ authorization: "Bearer hook-secret" })
      expect(accepted.status).toBe(202)
      expect(yield* Effect.promise(() => accepted.json())).toEqual({ accepted: true, runIds: ['{ "a" : 1 }'] })
      expect((yield* hook({})).status).toBe(401)
      // A forge's ping must be signed with the secret too.
      const ping = yield* hook({ authorization: "Bearer hook-secret", "x-github-event": "ping" })
      expect([ping.status, yield* Effect.promise(() => ping.json())]).toEqual([200, { accepted: true, runIds: [] }])
      expect((yield* hook({ "x-gitea-event": "ping" })).status).toBe(401)
      const elsewhere = yield* refusal("/hooks/sources/nonsense", { method: "POST", body: "{}" })
      expect(elsewhere.status).toBe(404)
    })
  )

  tests.live("the details of a defect are written only to the log", () =>
    Effect.gen(function* () {
      const answer = yield* refusal(`/api/v1/capsule-configs/${world.capsuleConfigId}`, { headers: session })
      expect(answer).toMatchObject({ status: 500, code: "internal_error" })
      expect(JSON.stringify(answer)).not.toContain(defectText)
      expect(answer.message).not.toMatch(/TypeError|hunter2|\.ts/)
    })
  )

  tests.live("an unimplemented capability is reported as unavailable", () =>
    Effect.gen(function* () {
      const path = "/api/v1/connections/oauth/helper/callback"
      for (const [headers, status, code] of [
        [{}, 401, "unauthenticated"],
        [session, 501, "capability_not_available"]
      ] as const) {
        expect(yield* refusal(path, { headers })).toMatchObject({ status, code })
        // Every parameter that a real server may send back, with `code` sent twice.
        const query = "?code=a&code=b&state=svco_x&iss=https%3A%2F%2Fid.example&session_state=1&authuser=0&x="
        expect(yield* refusal(`${path}${query}`, { headers })).toMatchObject({ status, code })
      }
    })
  )
})
