import { afterAll, expect } from "bun:test"
import { Config, Effect, Layer, References, Schema } from "effect"
import * as fc from "fast-check"
import { ErrorEnvelope } from "../../../schema/errors/ApiError.ts"
import { unlimitedAttempts } from "../../support/Attempts.ts"
import { nearValid } from "../../schema/manifest/NearValid.ts"
import { anyText } from "../../support/AnyText.ts"
import { testDatabase } from "../../support/Database.ts"
import { suite } from "../../support/Effect.ts"
import { exampleBody, operations } from "./support/ApiExamples.ts"
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

/** Requests per operation: a few by default; set SVC_FUZZ_RUNS to send thousands. */
const runsOf = Config.Int("SVC_FUZZ_RUNS").pipe(Config.withDefault(12))
const seedOf = Config.Int("SVC_FUZZ_SEED").pipe(Config.withDefault(20261121))

const canary = "canary-4f1d9c-hunter2"
const ids: Readonly<Record<string, string>> = { ...world, workspaceId: world.workspaceA, subject: world.viewer }
// This fake fails on purpose, to test how a defect is reported.
const defective = "/api/v1/capsule-configs/:capsuleConfigId"

const oddText = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "0",
    "-1",
    "1e9",
    "0x10",
    "null",
    "%00",
    "../../etc/passwd",
    "' OR 1=1 --",
    canary,
    "\u202e"
  ),
  anyText(40),
  fc.constant("x".repeat(5000))
)

/** Generates unusual parts of a request. */
const oddities = (names: ReadonlyArray<string>) =>
  fc.record({
    query: fc.oneof(
      { weight: 2, arbitrary: fc.constant({}) },
      {
        weight: 1,
        arbitrary: fc.dictionary(fc.constantFrom(...names, "limit", "cursor", "bogus"), oddText, { maxKeys: 3 })
      }
    ),
    doubled: fc.nat(7).map((n) => n === 0),
    pathText: fc.option(oddText, { nil: undefined, freq: 4 }),
    key: fc.option(oddText, { nil: undefined }),
    contentType: fc.constantFrom("application/json", "application/json", "application/json", "text/plain")
  })

// Requests that are partly valid reach more code than requests that are entirely invalid.
const bodies = (example: Schema.Json | undefined): fc.Arbitrary<unknown> =>
  example === undefined
    ? fc.constant(undefined)
    : fc.oneof({ weight: 1, arbitrary: fc.constant(example) }, { weight: 3, arbitrary: nearValid(example) })

const headerText = (text: string) => text.replace(/[^\x20-\x7e]/g, "?")

const decodeEnvelope = Schema.decodeUnknownEffect(ErrorEnvelope)

const sessionRoutes = /account\/tokens|ui-surfaces/

for (const { method, operation, path } of operations) {
  if (path === "/api/v1/account/tokens/current") continue
  tests.live(
    `no input triggers a defect in ${method} ${path}`,
    () =>
      Effect.gen(function* () {
        const names = (operation.parameters ?? []).filter((known) => known.in === "query").map(({ name }) => name)
        const example = exampleBody(method, path)
        const given = { numRuns: yield* runsOf, seed: yield* seedOf }
        const requests = fc.sample(
          fc.record({
            odd: oddities(names),
            body: bodies(example)
          }),
          given
        )
        for (const { body, odd } of requests) {
          const at = path.replace(/:(\w+)/g, (_, name: string) =>
            odd.pathText === undefined
              ? (ids[name] ?? "helper")
              : encodeURIComponent(odd.pathText.toWellFormed()) || "x"
          )
          const query = new URLSearchParams(odd.query)
          if (names.includes("workspaceId") && !odd.doubled) query.set("workspaceId", world.workspaceA)
          if (odd.doubled) query.append("limit", "1")
          const content = body === undefined ? undefined : JSON.stringify(body)
          const response = yield* send(`${at}?${query.toString()}`, {
            method,
            headers: {
              ...(sessionRoutes.test(path)
                ? { "x-svc-account-session": "ada-session" }
                : { authorization: "Bearer ada-token" }),
              ...(content === undefined ? {} : { "content-type": odd.contentType }),
              ...(odd.key === undefined ? {} : { "idempotency-key": headerText(odd.key) })
            },
            ...(content === undefined ? {} : { body: content })
          })
          const text = yield* Effect.promise(() => response.text())
          const told = `${method} ${at}?${query.toString()} ${content ?? ""} -> ${response.status} ${text.slice(0, 300)}`
          const broken = response.status >= 500 && response.status !== 501
          if (broken && path !== defective) throw new Error(told)
          if (operation.responses[String(response.status)] === undefined && response.status !== 405) {
            throw new Error(`Not a declared status: ${told}`)
          }
          expect(response.headers.get("x-content-type-options")).toBe("nosniff")
          expect(response.headers.get("x-request-id")).toMatch(/^req_[a-z2-7]{16}$/)
          if (response.status < 400) continue
          const { error } = yield* decodeEnvelope(JSON.parse(text))
          expect(error.requestId).toBe(response.headers.get("x-request-id") ?? "")
          expect(text).not.toContain(canary)
          expect(text).not.toMatch(/\bat .*\.ts:\d+|node_modules|SQLITE|hunter2/)
        }
      }),
    600_000
  )
}
