import { afterAll, expect } from "bun:test"
import { Context, Effect, Layer, References, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { Access, type AccessRule, publicAccess } from "../../../schema/api/Access.ts"
import { Authorization } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { ErrorEnvelope } from "../../../schema/errors/ApiError.ts"
import { AttemptLimits } from "../../../src/accounts/AttemptLimits.ts"
import { unlimitedAttempts } from "../../support/Attempts.ts"
import { authenticatorLayer } from "../../../src/accounts/AuthenticatorLayer.ts"
import { Authenticator } from "../../../src/http/authorization/Authenticator.ts"
import { HttpSettings, implementedFeatures } from "../../../src/http/HttpSettings.ts"
import { authorizationLayer } from "../../../src/http/middleware/AuthorizationLayer.ts"
import { testAccounts } from "../../support/Accounts.ts"
import { suite } from "../../support/Effect.ts"
import { exampleBody } from "./support/ApiExamples.ts"
import { matrixIssuer, Principals } from "./support/Principals.ts"
import { applicationOver, send } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

/**
 * Who may do what, by the kind of route. Columns: what only a session of the whole account has (t), what every credential reads of the
 * account (a), what changes the whole account (w), what is inside Workspace A for viewer, member, admin and owner. `r` reads,
 * `w` writes; `s` needs a session; `o` stays open when the Workspace is archived.
 */
const table = `
                        t.r t.w a.r w.w | v.r v.r.s v.w m.w a.w a.w.o o.w.o
nobody                  401 401 401 401 | 401 401   401 401 401 401   401
malformed credential    401 401 401 401 | 401 401   401 401 401 401   401
two credentials         401 401 401 401 | 401 401   401 401 401 401   401
unknown token           401 401 401 401 | 401 401   401 401 401 401   401
expired token           401 401 401 401 | 401 401   401 401 401 401   401
revoked token           401 401 401 401 | 401 401   401 401 401 401   401
ended session           401 401 401 401 | 401 401   401 401 401 401   401
locked account          401 401 401 401 | 401 401   401 401 401 401   401
owner                   ok  ok  ok  ok  | ok  ok    ok  ok  ok  ok    ok
admin                   ok  ok  ok  ok  | ok  ok    ok  ok  ok  ok    403
member                  ok  ok  ok  ok  | ok  ok    ok  ok  403 403   403
viewer                  ok  ok  ok  ok  | ok  ok    ok  403 403 403   403
suspended member        ok  ok  ok  ok  | 403 403   403 403 403 403   403
stranger                ok  ok  ok  ok  | 403 403   403 403 403 403   403
operator                ok  ok  ok  ok  | 403 403   403 403 403 403   403
session confined to A   403 403 ok  403 | ok  ok    ok  ok  ok  ok    ok
token                   403 403 ok  ok  | ok  403   ok  ok  ok  ok    ok
read-only token         403 403 ok  403 | ok  403   403 403 403 403   403
write-only token        403 403 403 ok  | 403 403   ok  ok  ok  ok    ok
token for A             403 403 ok  403 | ok  403   ok  ok  ok  ok    ok
token for B             403 403 ok  403 | 403 403   403 403 403 403   403
suspended token for A   403 403 ok  403 | 403 403   403 403 403 403   403
viewer's token          403 403 ok  ok  | ok  403   ok  403 403 403   403
OAuth token             403 403 ok  ok  | ok  403   ok  ok  ok  ok    ok
OAuth read token        403 403 ok  403 | ok  403   403 403 403 403   403
OAuth identity token    403 403 403 403 | 403 403   403 403 403 403   403
OAuth token for A       403 403 ok  403 | ok  403   ok  ok  ok  ok    ok
OAuth token for B       403 403 ok  403 | 403 403   403 403 403 403   403
viewer's OAuth token    403 403 ok  ok  | ok  403   ok  403 403 403   403
suspended OAuth for A   401 401 401 401 | 401 401   401 401 401 401   401
revoked OAuth token     401 401 401 401 | 401 401   401 401 401 401   401
signed-out OAuth token  401 401 401 401 | 401 401   401 401 401 401   401
token for a server      401 401 401 401 | 401 401   401 401 401 401   401
ID token                401 401 401 401 | 401 401   401 401 401 401   401
refresh token           401 401 401 401 | 401 401   401 401 401 401   401
`

/** The same while Workspace A is archived: it is read, restored and left, nothing else. */
const archivedTable = `
                        t.r t.w a.r w.w | v.r v.r.s v.w m.w a.w a.w.o o.w.o
nobody                  401 401 401 401 | 401 401   401 401 401 401   401
owner                   ok  ok  ok  ok  | ok  ok    409 409 409 ok    ok
admin                   ok  ok  ok  ok  | ok  ok    409 409 409 ok    403
viewer                  ok  ok  ok  ok  | ok  ok    409 403 403 403   403
stranger                ok  ok  ok  ok  | 403 403   403 403 403 403   403
token for A             403 403 ok  403 | ok  403   409 409 409 ok    ok
OAuth token for A       403 403 ok  403 | ok  403   409 409 409 ok    ok
`

const parse = (text: string) => {
  const [head = "", ...lines] = text.trim().split("\n")
  const columns = head.split(/[\s|]+/)
  return lines.map((line) => {
    const name = line.slice(0, 24).trim()
    const cells = line.slice(24).split(/[\s|]+/)
    if (cells.length !== columns.length) throw new Error(`The row of "${name}" has ${cells.length} cells`)
    return { name, cells: new Map(columns.map((column, at) => [column, cells[at]])) }
  })
}

interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly column: string
  readonly rule: AccessRule
}

const columnOf = (rule: AccessRule, method: string): string | undefined => {
  const way = method === "GET" ? "r" : "w"
  switch (rule.kind) {
    case "public":
    case "token":
      return undefined
    case "account":
      return `${rule.credential === "session" ? "t" : rule.wholeAccount === true ? "w" : "a"}.${way}`
    case "workspace": {
      const session = rule.session === true ? ".s" : ""
      return `${rule.role.charAt(0)}.${way}${session}${rule.archived === "open" ? ".o" : ""}`
    }
  }
}

const routes: Array<Route> = []
/** Routes that ask nobody, or that read their credential themselves. */
const open: Array<string> = []
HttpApi.reflect(SvcApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    const rule = Context.getUnsafe(endpoint.annotations, Access)
    const { method, path } = endpoint
    const column = columnOf(rule, method)
    if (column !== undefined) {
      routes.push({ name: `${group.identifier}.${endpoint.identifier}`, method, path, column, rule })
    } else open.push(`${rule.kind} ${method} ${path}`)
  }
})

const ids: Readonly<Record<string, string>> = { ...world, workspaceId: world.workspaceA, subject: world.viewer }
const retired: ReadonlySet<string> = new Set(["capsules.replaceProviderBindings", "capsules.updateConfig"])
// Its fake fails on purpose, for the test of what a defect looks like.
const defective = "capsules.config"

type Kind = "sound" | "broken"

/** A request that the route would accept, or the same with something wrong that only validation can see. */
const requestOf = (route: Route, kind: Kind) => {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "helper")
  const query = [
    ...(route.rule.kind === "workspace" && route.rule.locate === "query.workspaceId"
      ? [`workspaceId=${world.workspaceA}`]
      : []),
    ...(kind === "broken" && route.method === "GET" ? ["bogus=1"] : [])
  ]
  const sound = exampleBody(route.method, route.path)
  const locating = { workspaceId: world.workspaceA, fromWorkspaceId: world.workspaceA, bogus: 1 }
  const body = kind === "broken" && route.method !== "GET" ? locating : sound
  return {
    address: query.length === 0 ? path : `${path}?${query.join("&")}`,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      "idempotency-key": "matrix-key-0000000000000000"
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }
}

const decodeEnvelope = Schema.decodeUnknownEffect(ErrorEnvelope)
const codeOf = (response: Response) =>
  response.status < 400
    ? Effect.succeed("")
    : Effect.map(
        Effect.flatMap(
          Effect.promise(() => response.json()),
          decodeEnvelope
        ),
        ({ error }) => error.code
      )

/** Statuses that validation, actors and the world behind the route may answer to whom it let in. */
const admitted: ReadonlySet<number> = new Set([200, 201, 202, 204, 400, 409, 422, 501])

const settle = (route: Route, kind: Kind, status: number, code: string): string => {
  if (retired.has(route.name) && status === 405) return "ok"
  if (route.name === defective && kind === "sound" && status === 500) return "ok"
  if (kind === "broken") return status === 400 && code === "invalid_request" ? "ok" : `${status}`
  return admitted.has(status) && code !== "failed_precondition" ? "ok" : `${status}`
}

const checkRow = Effect.fnUntraced(function* (row: ReturnType<typeof parse>[number]) {
  const principals = yield* Principals
  const credential = principals.get(row.name)
  if (credential === undefined) throw new Error(`There is no principal "${row.name}"`)
  const wrong: Array<string> = []
  for (const route of routes) {
    for (const kind of ["sound", "broken"] as const) {
      const { address, headers, ...rest } = requestOf(route, kind)
      const response = yield* send(address, { method: route.method, headers: { ...headers, ...credential }, ...rest })
      const code = yield* codeOf(response)
      const expected = row.cells.get(route.column)
      if (settle(route, kind, response.status, code) !== expected) {
        wrong.push(`${row.name}, ${kind} ${route.name} (${route.column}): ${expected}, not ${response.status} ${code}`)
      }
    }
  }
  expect(wrong).toEqual([])
})

const application = applicationOver(Layer.mergeAll(authenticatorLayer, unlimitedAttempts)).pipe(
  Layer.provideMerge(Principals.layer),
  Layer.provideMerge(matrixIssuer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")),
  Layer.provideMerge(testAccounts)
)

const tests = suite(application)
afterAll(tests.dispose)

tests.live("every kind of route has its column, every kind of caller its row", () =>
  Effect.gen(function* () {
    const principals = yield* Principals
    const rows = parse(table)
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(principals.keys()))
    expect(new Set(rows[0]?.cells.keys())).toEqual(new Set(routes.map(({ column }) => column)))
    expect(routes.length).toBeGreaterThan(90)
    // Whoever opens a route to everybody has to say so here too.
    expect(open).toEqual([
      "public GET /.well-known/svc",
      "public GET /api/v1/capabilities",
      "token GET /api/v1/account/tokens/current"
    ])
  })
)

const nowhere = Layer.succeed(HttpSettings, {
  baseUrl: "http://svc.example.test",
  version: "0.0.0",
  displayName: "svc",
  features: implementedFeatures,
  auth: { oidc: false, password: true }
})

tests.live("a route that says nothing of who may call it does not start, and neither does one without the check", () =>
  Effect.gen(function* () {
    const silent = HttpApiEndpoint.get("route", "/api/v1/route")
    const told = silent.annotate(Access, publicAccess)
    const built = (endpoint: typeof silent) => {
      const api = HttpApi.make("test").add(HttpApiGroup.make("group").add(endpoint).middleware(Authorization))
      const handlers = HttpApiBuilder.group(api, "group", (group) => group.handle("route", () => Effect.void))
      const routes = HttpApiBuilder.layer(api).pipe(
        Layer.provide(handlers),
        Layer.provide(authorizationLayer),
        Layer.provide(HttpServer.layerServices),
        Layer.provide(Layer.mergeAll(Layer.mock(Authenticator)({}), Layer.mock(AttemptLimits)({}), nowhere))
      )
      return HttpRouter.toHttpEffect(routes).pipe(Effect.scoped, Effect.exit)
    }
    expect((yield* built(silent))._tag).toBe("Failure")
    expect((yield* built(told))._tag).toBe("Success")
    const unchecked: Array<string> = []
    HttpApi.reflect(SvcApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, middleware }) => {
        if (![...middleware].some((service) => service.key === Authorization.key)) unchecked.push(endpoint.path)
      }
    })
    expect(unchecked).toEqual([])
  })
)

for (const row of parse(table)) tests.live(`${row.name}: admitted and refused as the table says`, () => checkRow(row))

tests.live("an archived Workspace is read, restored and left, and nothing else", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const archive = (at: string | null) => sql`UPDATE workspaces SET archived_at = ${at} WHERE id = ${world.workspaceA}`
    yield* Effect.acquireUseRelease(
      archive("2026-02-01T00:00:00.000Z"),
      () => Effect.forEach(parse(archivedTable), checkRow, { discard: true }),
      () => Effect.orDie(archive(null))
    )
  })
)
