import { describe, expect, test } from "bun:test"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, OpenApi } from "effect/http-api"
import { samplePath } from "../../../runner/git/SampleModule.ts"
import { oidcRoutes } from "../../../src/accounts/oidc/OidcRoutes.ts"
import { type HttpServices, serverRoutes } from "../../../src/http/HttpApplication.ts"
import { answerExamples } from "../../../src/http/AnswerExamples.ts"
import { describedApi } from "../../../src/http/OpenApiDocument.ts"
import { ServerApi } from "../../../src/http/ServerApi.ts"
import { routerConfig } from "../../../src/http/UnknownRoutes.ts"
import { exampleFault } from "../../support/description/AnswerFaults.ts"
import { it } from "../../support/Effect.ts"
import { issuerLayer } from "../accounts/oidc/support/IssuerFixture.ts"
import { recordedRoutes } from "./support/RecordedRoutes.ts"
import { serverServices } from "./support/TestApplication.ts"

const Parameter = Schema.Struct({ name: Schema.String, required: Schema.Boolean, schema: Schema.Json })
const Operation = Schema.Struct({
  operationId: Schema.String,
  parameters: Schema.Array(Parameter),
  requestBody: Schema.optionalKey(Schema.Json),
  responses: Schema.Record(Schema.String, Schema.Json)
})
const Document = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  components: Schema.Struct({ responses: Schema.Record(Schema.String, Schema.Json) })
})

const json: unknown = JSON.parse(JSON.stringify(OpenApi.fromApi(describedApi())))
const { components, paths } = Schema.decodeUnknownSync(Document)(json)
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation }))
)
const parameterOf = (name: string, parameter: string) =>
  operations.find((one) => one.name === name)?.operation.parameters.find((one) => one.name === parameter)

const declared = () => {
  const names = new Set<string>()
  HttpApi.reflect(ServerApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      names.add(`${endpoint.method} ${endpoint.path}`)
    }
  })
  return names
}

/** The pages and files of the dashboard, served under every path not claimed by a route. */
/** The dashboard, the documentation, and the sample repository, which is served in Git's protocol. */
const pages = ["GET /*", "GET /docs/*", `GET ${samplePath}/info/refs`, `POST ${samplePath}/git-upload-pack`]
/** Routes of the dashboard's pages, including pages before sign-in. */
const pageRoutes = ["GET /sign-in", "GET /setup"]

it.live("the API description contains exactly the routes of the server", () =>
  Effect.gen(function* () {
    const found = new Set<string>()
    const recording = recordedRoutes(found)
    const services = yield* Effect.context<HttpServices>()
    yield* HttpRouter.toHttpEffect(
      Layer.provideMerge(serverRoutes.pipe(Layer.provide(recording)), Layer.succeedContext(services))
    ).pipe(Effect.provideService(HttpRouter.RouterConfig, routerConfig), Effect.asVoid)
    yield* Layer.build(issuerLayer({ routes: oidcRoutes.pipe(Layer.provide(recording)) }))
    // Preflight requests are not operations.
    const routes = [...found].filter((name) => !name.startsWith("OPTIONS ") && !pages.includes(name))
    expect([...routes, ...pageRoutes].toSorted()).toEqual([...declared()].toSorted())
  }).pipe(Effect.scoped, Effect.provide(serverServices))
)

const everyPart = (value: unknown, path = ""): ReadonlyArray<readonly [path: string, part: object]> =>
  typeof value !== "object" || value === null
    ? []
    : [[path, value] as const, ...Object.entries(value).flatMap(([key, inner]) => everyPart(inner, `${path}/${key}`))]

describe("the description", () => {
  test("the API description describes the items of every array", () => {
    const arrays = everyPart(json).filter(([, part]) => "type" in part && part.type === "array")
    expect(arrays.length).toBeGreaterThan(100)
    expect(arrays.filter(([, part]) => !("items" in part) && !("prefixItems" in part)).map(([path]) => path)).toEqual(
      []
    )
  })

  test("the API description requires an Idempotency-Key exactly where the server does", () => {
    const required = operations.filter(({ operation }) =>
      operation.parameters.some((one) => one.name === "idempotency-key" && one.required)
    )
    expect(required.map(({ name }) => name).toSorted()).toEqual([
      "POST /api/v1/capsules/{capsuleId}/configuration-plans",
      "POST /api/v1/capsules/{capsuleId}/install-config-re-adoptions",
      "POST /api/v1/capsules/{capsuleId}/left-over-states/{leftOverStateId}/adopt",
      "POST /api/v1/capsules/{capsuleId}/revision-plans",
      "POST /api/v1/workspaces/{workspaceId}/backup-uploads",
      "POST /api/v1/workspaces/{workspaceId}/install-plans",
      "POST /api/v1/workspaces/{workspaceId}/state-uploads"
    ])
    expect(parameterOf("POST /api/v1/runs/{runId}/apply", "idempotency-key")?.required).toBe(false)
  })

  test("the API description declares bounded numbers for numeric query parameters", () => {
    const limits = operations.flatMap(({ name, operation }) =>
      operation.parameters
        .filter((one) => one.name === "limit" || one.name === "after")
        .map(({ name: parameter, schema }) => ({ name, parameter, schema }))
    )
    expect(limits.length).toBeGreaterThan(20)
    for (const limit of limits) {
      expect(limit).toMatchObject({
        schema: { type: "integer", minimum: expect.any(Number), maximum: expect.any(Number) }
      })
    }
    expect(parameterOf("GET /api/v1/runs/{runId}/events", "limit")?.schema).toEqual({
      type: "integer",
      minimum: 1,
      maximum: 1000
    })
  })

  test("the API description has x-request-id on every response, and Retry-After on retryable refusals", () => {
    const id = { "x-request-id": { $ref: "#/components/headers/RequestId" } }
    const wait = { "retry-after": { $ref: "#/components/headers/RetryAfter" } }
    for (const { name, operation } of operations) {
      for (const [status, response] of Object.entries(operation.responses)) {
        if (JSON.stringify(response).startsWith('{"$ref"')) continue
        const headers = status === "429" || status === "503" ? { ...id, ...wait } : id
        expect([name, status, response]).toMatchObject([name, status, { headers }])
      }
    }
    for (const response of Object.values(components.responses)) expect(response).toMatchObject({ headers: id })
    expect(components.responses).toMatchObject({ RateLimited: { headers: wait }, Unavailable: { headers: wait } })
  })

  test("the API description gives every object a type, and makes bodies without required fields optional", () => {
    expect(JSON.stringify(json)).not.toContain('"not":{"type":"null"}')
    const empty = { schema: { type: "object", additionalProperties: false } }
    expect(paths["/api/v1/runs/{runId}/apply"]?.["post"]?.requestBody).toEqual({
      content: { "application/json": empty },
      required: false
    })
    expect(paths["/api/v1/runs/{runId}/approve"]?.["post"]?.requestBody).toMatchObject({ required: true })
  })

  test("the API description has examples from real servers, each valid against its schema", () => {
    const unused = new Set(Object.keys(answerExamples))
    for (const { name, operation } of operations) {
      for (const status of Object.keys(operation.responses)) {
        const example = answerExamples[`${operation.operationId} ${status}`]
        if (example === undefined) continue
        unused.delete(`${operation.operationId} ${status}`)
        const [method = "", path = ""] = name.split(" ")
        const fault = exampleFault(method, path.replace(/[{}]/g, ""), Number(status), example)
        expect([name, status, fault]).toEqual([name, status, undefined])
      }
    }
    // Unused examples belong to operations that were renamed or removed: run `npm run docs:examples`.
    expect([...unused]).toEqual([])
    expect(Object.keys(answerExamples).length).toBeGreaterThan(80)
  })

  test("the API description includes the stream frames, over WebSocket and as server-sent events", () => {
    for (const [sequence, frame] of [
      ["events", "RunEvent"],
      ["logs", "RunLog"]
    ]) {
      const schema = { $ref: `#/components/schemas/${frame}Frame` }
      const message = { $ref: `#/components/schemas/${frame}Message` }
      expect(paths[`/api/v1/runs/{runId}/${sequence}`]?.["get"]?.responses).toMatchObject({
        101: { headers: { upgrade: { schema: { const: "websocket" } } }, "x-websocket": { message } },
        200: { content: { "application/json": {}, "text/event-stream": { schema } } }
      })
    }
  })
})
