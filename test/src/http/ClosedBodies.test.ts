import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer, References } from "effect"
import { unlimitedAttempts } from "../../support/Attempts.ts"
import { testDatabase } from "../../support/Database.ts"
import { suite } from "../../support/Effect.ts"
import { bodySchema, exampleBody, operations } from "./support/ApiExamples.ts"
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

/** Fields of a record that only the service may set. */
const assigned = {
  id: "cap_aaaaaaaaaaaaaaaaaaaaaaaa",
  createdBy: "usr_other",
  createdAt: "2026-01-01T00:00:00.000Z",
  executionAuthorityEpoch: 7,
  isAdmin: true,
  approvedBy: "usr_other",
  hookSecretSealed: "x"
}

/** Retired routes refuse every request without reading the body. */
const retired = new Set([
  "PATCH /api/v1/capsule-configs/:capsuleConfigId",
  "PUT /api/v1/capsules/:capsuleId/provider-bindings"
])

const withBody = operations.filter(
  ({ method, operation, path }) =>
    bodySchema(operation) !== undefined &&
    // A file body has no fields.
    operation.requestBody?.content["application/octet-stream"] === undefined &&
    !retired.has(`${method} ${path}`)
)

describe("a request body is rejected if it sets a field that only the service may set (J13)", () => {
  for (const { method, path } of withBody) {
    tests.live(`${method} ${path}`, () =>
      Effect.gen(function* () {
        const at = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "helper")
        const example = exampleBody(method, path)
        const session =
          /^\/api\/v1\/(?:account\/(?:tokens|notice-mails)|invitations\/accept)|\/(?:ownership|hook-secret|exports|import-confirmation|members\/:subject\/tokens|github-app\/start)$/.test(
            path
          )
        for (const [field, value] of Object.entries(assigned)) {
          const body = { ...(typeof example === "object" && example !== null ? example : {}), [field]: value }
          const response = yield* send(at, {
            method,
            headers: {
              ...(session ? { "x-svc-account-session": "ada-session" } : { authorization: "Bearer ada-token" }),
              "content-type": "application/json",
              "idempotency-key": `closed-${field}`
            },
            body: JSON.stringify(body)
          })
          const text = yield* Effect.promise(() => response.text())
          expect([field, response.status]).toEqual([field, 400])
          const told = [`body.${field}: is not a known field`, "This route takes no body."]
          expect([text, told.some((message) => text.includes(message))]).toEqual([text, true])
        }
      })
    )
  }

  tests.live("the closed-body checks cover routes with a body", () =>
    Effect.sync(() => expect(withBody.length).toBeGreaterThan(30))
  )
})
