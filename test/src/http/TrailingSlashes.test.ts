import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer, References } from "effect"
import { HttpApi } from "effect/http-api"
import { ServerApi } from "../../../src/http/ServerApi.ts"
import { unlimitedAttempts } from "../../support/Attempts.ts"
import { testDatabase } from "../../support/Database.ts"
import { suite } from "../../support/Effect.ts"
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

/** All routes of the server, inside and outside the API. */
const routes: Array<{ readonly method: string; readonly path: string }> = []
HttpApi.reflect(ServerApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint: { method, path } }) => void routes.push({ method, path })
})

const answerTo = Effect.fnUntraced(function* (method: string, path: string, headers: Record<string, string>) {
  const at = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "other")
  const response = yield* send(at, {
    method,
    headers: { "content-type": "application/json", "idempotency-key": "slash-1", ...headers },
    ...(method === "GET" ? {} : { body: "{}" }),
    redirect: "manual"
  })
  const text = yield* Effect.promise(() => response.text())
  return { status: response.status, text: text.replace(/req_\w+/g, "id") }
})

const isNoRoute = ({ status, text }: { readonly status: number; readonly text: string }) =>
  status === 404 && text.includes("There is no such route.")

const callers = { nobody: {}, owner: { "x-svc-account-session": "ada-session" } }

describe("Trailing slashes", () => {
  for (const { method, path } of routes) {
    if (path.endsWith("/")) continue
    tests.live(`a trailing slash has no effect, or makes the path unknown: ${method} ${path}`, () =>
      Effect.gen(function* () {
        for (const [caller, headers] of Object.entries(callers)) {
          const slashed = yield* answerTo(method, `${path}/`, headers)
          if (isNoRoute(slashed)) continue
          expect([caller, slashed]).toEqual([caller, yield* answerTo(method, path, headers)])
        }
      })
    )
  }

  tests.live("a path with an empty segment in its middle is unknown", () =>
    Effect.gen(function* () {
      const found: Array<string> = []
      for (const { method, path } of routes) {
        for (const match of path.matchAll(/:\w+(?=\/)/g)) {
          const at = `${path.slice(0, match.index)}${path.slice(match.index + match[0].length)}`
          const answer = yield* answerTo(method, at, callers.owner)
          if (!isNoRoute(answer)) found.push(`${method} ${at} ${answer.status} ${answer.text}`)
        }
      }
      expect(found).toEqual([])
    })
  )

  tests.live("the trailing slash checks cover every route", () =>
    Effect.sync(() => expect(routes.length).toBeGreaterThan(150))
  )
})
