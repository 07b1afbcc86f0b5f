import { afterAll, describe, expect } from "bun:test"
import { Effect, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import type { AccessRule } from "../../../schema/api/Access.ts"
import { accessOf } from "../../../schema/api/Roles.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { ErrorEnvelope } from "../../../schema/errors/ApiError.ts"
import { suite } from "../../support/Effect.ts"
import { send, TestApplication } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly rule: AccessRule
}

const routes: Array<Route> = []
HttpApi.reflect(SvcApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    routes.push({
      name: `${group.identifier}.${endpoint.identifier}`,
      method: endpoint.method,
      path: endpoint.path,
      rule: accessOf(endpoint)
    })
  }
})

const ids: Readonly<Record<string, string>> = { ...world, workspaceId: world.workspaceA, subject: world.viewer }
const unknownId = (name: string) => `${ids[name]?.split("_")[0] ?? "xx"}_${"q".repeat(24)}`

interface Target {
  readonly workspaceId: string
  readonly known: boolean
}

const inA: Target = { workspaceId: world.workspaceA, known: true }
const nowhere: Target = { workspaceId: world.workspaceUnknown, known: false }

const address = (route: Route, target: Target) => {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) =>
    name === "workspaceId" ? target.workspaceId : target.known ? (ids[name] ?? "helper") : unknownId(name)
  )
  const inQuery = route.rule.kind === "workspace" && route.rule.locate === "query.workspaceId"
  return inQuery ? `${path}?workspaceId=${target.workspaceId}` : path
}

const takesBody = (route: Route) => route.method !== "GET" && route.method !== "DELETE"

/** Returns a body that identifies its Workspace but is otherwise invalid. */
const brokenBody = (route: Route, target: Target) =>
  takesBody(route)
    ? { body: JSON.stringify({ workspaceId: target.workspaceId, fromWorkspaceId: target.workspaceId, bogus: 1 }) }
    : {}

const ask = (route: Route, target: Target, credential: Record<string, string>) =>
  send(address(route, target), {
    method: route.method,
    headers: { ...credential, ...(takesBody(route) ? { "content-type": "application/json" } : {}) },
    ...brokenBody(route, target)
  })

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const session = (secret: string) => ({ cookie: `svc_session=${secret}`, "sec-fetch-site": "same-origin" })

const decodeEnvelope = Schema.decodeUnknownEffect(ErrorEnvelope)

const expectRefusal = Effect.fn("expectRefusal")(function* (
  response: Response,
  route: Route,
  status: number,
  ...codes: ReadonlyArray<string>
) {
  const { error } = yield* decodeEnvelope(yield* Effect.promise(() => response.json()))
  expect(`${route.name} ${response.status} ${error.code}`).toBe(
    `${route.name} ${status} ${codes.includes(error.code) ? error.code : codes.join("|")}`
  )
  expect(response.headers.get("x-request-id")).toBe(error.requestId)
  expect(response.headers.get("x-content-type-options")).toBe("nosniff")
  if (route.path.startsWith("/api/")) expect(response.headers.get("cache-control")).toBe("no-store")
  if (route.path.startsWith("/api/v1/account/tokens")) expect(response.headers.get("pragma")).toBe("no-cache")
})

const workspaceRoutes = routes.filter(({ rule }) => rule.kind === "workspace")
const guardedRoutes = routes.filter(({ rule }) => rule.kind === "workspace" || rule.kind === "account")
const locatedBy = (place: string) => (route: Route) =>
  route.rule.kind === "workspace" && route.rule.locate.startsWith(place)

const tests = suite(TestApplication.layer)
afterAll(tests.dispose)

const each = (of: ReadonlyArray<Route>, check: (route: Route) => Effect.Effect<void, unknown, TestApplication>) =>
  Effect.forEach(of, check, { discard: true })

describe("API routes", () => {
  tests.live("every route of the API has one handler, and all but a few require a caller", () =>
    Effect.sync(() => {
      expect(routes.length).toBe(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size)
      expect(guardedRoutes.length).toBeGreaterThanOrEqual(90)
    })
  )

  tests.live("every route authenticates first, and returns 401 without a credential, whatever the body", () =>
    each(guardedRoutes, (route) =>
      Effect.flatMap(ask(route, inA, {}), (response) => expectRefusal(response, route, 401, "unauthenticated"))
    )
  )

  tests.live("no route accepts one kind of credential in place of another", () =>
    each(guardedRoutes, (route) =>
      Effect.gen(function* () {
        for (const credential of [
          bearer("nobody"),
          bearer("ada-token, Bearer ada-token"),
          { authorization: "Basic YWRhOmFkYQ==" },
          { ...session("ada-session"), "x-svc-account-session": "ada-session" },
          { cookie: "svc_session=ada-session; svc_session=bob-session", "sec-fetch-site": "same-origin" }
        ]) {
          yield* expectRefusal(yield* ask(route, inA, credential), route, 401, "unauthenticated", "invalid_token")
        }
      })
    )
  )

  tests.live("every route refuses a foreign Workspace with 403 before it reads the request", () =>
    each(workspaceRoutes, (route) =>
      Effect.gen(function* () {
        for (const stranger of ["bob-session", "suspended-session"]) {
          yield* expectRefusal(yield* ask(route, inA, session(stranger)), route, 403, "permission_denied")
        }
      })
    )
  )

  tests.live("every route returns the same 404 for an unknown and a foreign id", () =>
    each(workspaceRoutes, (route) =>
      Effect.flatMap(ask(route, nowhere, session("ada-session")), (response) =>
        expectRefusal(response, route, 404, "not_found")
      )
    )
  )

  tests.live("every route refuses a cookie-authenticated mutation from another site with 403", () =>
    each(
      guardedRoutes.filter(({ method }) => method !== "GET"),
      (route) =>
        Effect.gen(function* () {
          for (const from of [
            { "sec-fetch-site": "cross-site" },
            { "sec-fetch-site": "same-site" },
            { origin: "https://evil.example.test" },
            { origin: "null" },
            {}
          ]) {
            const response = yield* ask(route, inA, { cookie: "svc_session=ada-session", ...from })
            yield* expectRefusal(response, route, 403, "csrf_failed")
          }
        })
    )
  )

  tests.live("every route confines a credential to the Workspace and scopes of that credential", () =>
    each(workspaceRoutes, (route) =>
      Effect.gen(function* () {
        const elsewhere = yield* ask(route, inA, bearer("ada-token-for-b"))
        yield* expectRefusal(elsewhere, route, 403, "permission_denied")
        const inactive = yield* ask(route, inA, bearer("suspended-token-for-a"))
        yield* expectRefusal(inactive, route, 403, "workspace_membership_inactive")
        if (route.method !== "GET") {
          const readOnly = yield* ask(route, inA, bearer("ada-read-token"))
          yield* expectRefusal(readOnly, route, 403, "insufficient_scope", "permission_denied")
        }
      })
    )
  )

  tests.live("every route refuses a missing scope with 403 before it reads the body", () =>
    Effect.gen(function* () {
      for (const body of ["{", "{}", `{"workspaceId":1,"workspaceId":2}`]) {
        const response = yield* send("/api/v1/sources", {
          method: "POST",
          body,
          headers: { ...bearer("ada-read-token"), "content-type": "application/json" }
        })
        const answer = yield* Effect.promise(() => response.json())
        expect([body, response.status, answer.error.code]).toEqual([body, 403, "insufficient_scope"])
      }
    })
  )

  tests.live("every route limits members to the permissions of their role", () =>
    each(
      workspaceRoutes.filter(({ rule }) => rule.kind === "workspace" && rule.role !== "viewer"),
      (route) =>
        Effect.flatMap(ask(route, inA, session("viewer-session")), (response) =>
          expectRefusal(response, route, 403, "permission_denied")
        )
    )
  )

  tests.live("a route that requires a person refuses tokens", () =>
    each(
      routes.filter(({ rule }) => rule.kind === "account" && rule.credential === "session"),
      (route) =>
        Effect.flatMap(ask(route, inA, bearer("ada-token")), (response) =>
          expectRefusal(response, route, 403, "permission_denied")
        )
    )
  )

  tests.live("every route validates requests only for authorised callers", () =>
    each(
      workspaceRoutes.filter(({ method }) => method === "POST" || method === "PATCH" || method === "PUT"),
      (route) =>
        Effect.gen(function* () {
          const response = yield* ask(route, inA, session("ada-session"))
          if (["capsules.replaceProviderBindings", "capsules.updateConfig"].includes(route.name)) {
            expect(response.headers.get("allow")).toBe("GET")
            return yield* expectRefusal(response, route, 405, "method_not_allowed")
          }
          const { error } = yield* decodeEnvelope(yield* Effect.promise(() => response.json()))
          const isFile = ["stateUploads.create", "backupImports.upload"].includes(route.name)
          const refusal = isFile ? "415 unsupported_media_type" : "400 invalid_request"
          expect(`${route.name} ${response.status} ${error.code}`).toBe(`${route.name} ${refusal}`)
          expect(error.message).not.toContain(world.workspaceA)
        })
    )
  )

  tests.live("a route that needs a Workspace returns 400 when the request does not identify one", () =>
    Effect.gen(function* () {
      for (const route of routes.filter(locatedBy("body."))) {
        const response = yield* send(route.path.replace(":helperId", "helper"), {
          method: route.method,
          headers: { ...session("ada-session"), "content-type": "application/json" },
          body: "{}"
        })
        yield* expectRefusal(response, route, 400, "invalid_request")
      }
      for (const route of routes.filter(locatedBy("query."))) {
        for (const query of ["", `?workspaceId=${world.workspaceA}&workspaceId=${world.workspaceB}`]) {
          const response = yield* send(`${route.path}${query}`, { headers: session("ada-session") })
          yield* expectRefusal(response, route, 400, "invalid_request")
        }
      }
    })
  )
})
