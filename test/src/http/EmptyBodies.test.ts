import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer, References } from "effect"
import { unlimitedAttempts } from "../../support/Attempts.ts"
import { testDatabase } from "../../support/Database.ts"
import { suite } from "../../support/Effect.ts"
import { bodySchema, operations } from "./support/ApiExamples.ts"
import { applicationOver, send } from "./support/TestApplication.ts"
import { seed, world } from "./support/World.ts"

const tests = suite(
  applicationOver(unlimitedAttempts).pipe(
    Layer.provideMerge(Layer.effectDiscard(seed)),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")),
    Layer.provideMerge(testDatabase)
  )
)
afterAll(tests.dispose)

const ids: Readonly<Record<string, string>> = { ...world, workspaceId: world.workspaceA, subject: world.viewer }

const withBody = operations.filter(
  ({ operation }) =>
    bodySchema(operation) !== undefined &&
    // A file body has no fields.
    operation.requestBody?.content["application/octet-stream"] === undefined
)

/** The ways in which clients send a request without a body. */
const empty: ReadonlyArray<readonly [string, RequestInit]> = [
  ["no body and no type", {}],
  ["no body and a JSON type", { headers: { "content-type": "application/json" } }],
  ["an empty text", { body: "", headers: { "content-type": "application/json" } }],
  [
    "the empty form of curl",
    { headers: { "content-type": "application/x-www-form-urlencoded", "content-length": "0" } }
  ]
]

/** Removes from a response the values that differ between two requests. */
const answerTo = Effect.fnUntraced(function* (method: string, path: string, init: RequestInit) {
  const at = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "helper")
  const response = yield* send(at, {
    ...init,
    method,
    headers: {
      "x-svc-account-session": "ada-session",
      "idempotency-key": crypto.randomUUID(),
      ...init.headers
    }
  })
  const text = yield* Effect.promise(() => response.text())
  return [response.status, text.replace(/req_\w+/g, "id").replace(/"(?:inv|ws|mbr|prj)_\w+"|\d{4}-[\d:.TZ-]+/g, "id")]
})

describe("Empty bodies", () => {
  for (const { method, path } of withBody) {
    tests.live(`${method} ${path}`, () =>
      Effect.gen(function* () {
        const json = { "content-type": "application/json" }
        const object = yield* answerTo(method, path, { headers: json, body: "{}" })
        for (const [name, init] of empty) {
          expect([name, ...(yield* answerTo(method, path, init))]).toEqual([name, ...object])
        }
      })
    )
  }

  tests.live("an empty body counts as an empty object if every field is optional", () =>
    Effect.gen(function* () {
      const accepted: Array<string> = []
      for (const { method, operation, path } of withBody) {
        const schema = bodySchema(operation)
        if ((schema?.required ?? []).length > 0) continue
        const [status] = yield* answerTo(method, path, {})
        if (status !== 400) accepted.push(`${method} ${path}`)
      }
      for (const route of [
        "POST /api/v1/sources/:sourceId/sync",
        "POST /api/v1/runs/:runId/approve",
        "POST /api/v1/runs/:runId/cancel",
        "POST /api/v1/runs/:runId/apply",
        "POST /api/v1/capsules/:capsuleId/plan",
        "POST /api/v1/workspaces/:workspaceId/plan-update"
      ]) {
        expect(accepted).toContain(route)
      }
    })
  )

  tests.live("a body with a type other than JSON is rejected even if every field is optional", () =>
    Effect.gen(function* () {
      const [status] = yield* answerTo("POST", "/api/v1/sources/:sourceId/sync", {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: "intent=observe"
      })
      expect(status).toBe(415)
    })
  )
})
