import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { Authorization } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { AttemptLimits } from "../../../src/accounts/AttemptLimits.ts"
import { Authenticator } from "../../../src/http-kit/Authenticator.ts"
import { HttpSettings, implementedFeatures } from "../../../src/http-kit/HttpSettings.ts"
import { authorizationLayer } from "../../../src/http/middleware/AuthorizationLayer.ts"
import { suite } from "../../support/Effect.ts"
import { type AuthorizationRow, type CallerKind, confirmedRoutes, rowOf } from "./AuthorizationTable.ts"
import { matrixApplication } from "./support/MatrixApplication.ts"
import { Principals } from "./support/Principals.ts"
import { routes as everyRoute, verdictOf } from "./support/RouteRequests.ts"
import { world } from "./support/World.ts"

/**
 * Permissions by kind of route. A column's first part is `t` for a session covering the whole account, `s` for any session, `a` for
 * account reads with any credential, `w` for changes to the whole account, or the required role in Workspace A (viewer, member,
 * admin, owner). The following letters: `r` reads, `w` writes, `s` needs a session (recently confirmed for writes in the
 * Workspace), `u` needs a session that need not be confirmed, `c` needs a recently confirmed session, and `o` still works when the
 * Workspace is archived. `adm.r` is a read for admins.
 */
const table = `
                        t.r t.w a.r w.w | v.r v.r.s v.w v.w.o m.w m.w.s a.w a.w.s a.w.o o.w.o o.w o.w.s o.r o.r.c adm.r s.r a.w.u
nobody                  401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
malformed credential    401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
two credentials         401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
unknown token           401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
expired token           401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
revoked token           401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
ended session           401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
locked account          401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
owner                   ok  ok  ok  ok  | ok  ok    ok  ok    ok  ok    ok  ok    ok    ok    ok  ok    ok  ok    ok    ok  ok
owner not seen for long ok  ok  ok  ok  | ok  ok    ok  ok    ok  403   ok  403   ok    ok    ok  403   ok  403   ok    ok  ok
admin                   ok  ok  ok  ok  | ok  ok    ok  ok    ok  ok    ok  ok    ok    403   403 403   403 403   ok    ok  ok
member                  ok  ok  ok  ok  | ok  ok    ok  ok    ok  ok    403 403   403   403   403 403   403 403   403   ok  403
viewer                  ok  ok  ok  ok  | ok  ok    ok  ok    403 403   403 403   403   403   403 403   403 403   403   ok  403
suspended member        ok  ok  ok  ok  | 403 403   403 403   403 403   403 403   403   403   403 403   403 403   403   ok  403
stranger                ok  ok  ok  ok  | 403 403   403 403   403 403   403 403   403   403   403 403   403 403   403   ok  403
operator                ok  ok  ok  ok  | 403 403   403 403   403 403   403 403   403   403   403 403   403 403   403   ok  403
session confined to A   403 403 ok  403 | ok  ok    ok  ok    ok  ok    ok  ok    ok    ok    ok  ok    ok  ok    ok    ok  ok
token                   403 403 ok  ok  | ok  403   ok  ok    ok  403   ok  403   ok    ok    ok  403   ok  403   ok    403 403
read-only token         403 403 ok  403 | ok  403   403 403   403 403   403 403   403   403   403 403   ok  403   ok    403 403
write-only token        403 403 403 ok  | 403 403   ok  ok    ok  403   ok  403   ok    ok    ok  403   403 403   403   403 403
token for A             403 403 ok  403 | ok  403   ok  ok    ok  403   ok  403   ok    ok    ok  403   ok  403   ok    403 403
token for B             403 403 ok  403 | 403 403   403 403   403 403   403 403   403   403   403 403   403 403   403   403 403
suspended token for A   403 403 ok  403 | 403 403   403 403   403 403   403 403   403   403   403 403   403 403   403   403 403
viewer's token          403 403 ok  ok  | ok  403   ok  ok    403 403   403 403   403   403   403 403   403 403   403   403 403
OAuth token             403 403 ok  ok  | ok  403   ok  ok    ok  403   ok  403   ok    ok    ok  403   ok  403   ok    403 403
OAuth read token        403 403 ok  403 | ok  403   403 403   403 403   403 403   403   403   403 403   ok  403   ok    403 403
OAuth identity token    403 403 403 403 | 403 403   403 403   403 403   403 403   403   403   403 403   403 403   403   403 403
OAuth token for A       403 403 ok  403 | ok  403   ok  ok    ok  403   ok  403   ok    ok    ok  403   ok  403   ok    403 403
OAuth token for B       403 403 ok  403 | 403 403   403 403   403 403   403 403   403   403   403 403   403 403   403   403 403
viewer's OAuth token    403 403 ok  ok  | ok  403   ok  ok    403 403   403 403   403   403   403 403   403 403   403   403 403
suspended OAuth for A   401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
revoked OAuth token     401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
signed-out OAuth token  401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
token for a server      401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
ID token                401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
refresh token           401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
`

/** The same rules while Workspace A is archived: it can only be read, restored or left. */
const archivedTable = `
                        t.r t.w a.r w.w | v.r v.r.s v.w v.w.o m.w m.w.s a.w a.w.s a.w.o o.w.o o.w o.w.s o.r o.r.c adm.r s.r a.w.u
nobody                  401 401 401 401 | 401 401   401 401   401 401   401 401   401   401   401 401   401 401   401   401 401
owner                   ok  ok  ok  ok  | ok  ok    409 ok    409 409   409 409   ok    ok    409 409   ok  ok    ok    ok  409
admin                   ok  ok  ok  ok  | ok  ok    409 ok    409 409   409 409   ok    403   403 403   403 403   ok    ok  409
viewer                  ok  ok  ok  ok  | ok  ok    409 ok    403 403   403 403   403   403   403 403   403 403   403   ok  403
stranger                ok  ok  ok  ok  | 403 403   403 403   403 403   403 403   403   403   403 403   403 403   403   ok  403
token for A             403 403 ok  403 | ok  403   409 ok    409 403   409 403   ok    ok    409 403   ok  403   ok    403 403
OAuth token for A       403 403 ok  403 | ok  403   409 ok    409 403   409 403   ok    ok    409 403   ok  403   ok    403 403
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

/**
 * Derives the kind of a route from its row in the handwritten table. Public routes, and routes that read their own bearer token,
 * have no kind.
 */
const columnOf = ({ cells, method, path }: AuthorizationRow): string | undefined => {
  const lets = (caller: CallerKind) => cells.get(caller) === "ok"
  const way = method === "GET" ? "r" : "w"
  if (lets("anon") || !lets("ownr")) return undefined
  const ofSession = lets("conf") ? "s" : "t"
  if (lets("othr")) return `${!lets("pat") ? ofSession : lets("p-A") ? "a" : "w"}.${way}`
  const role = lets("view") ? "v" : lets("memb") ? "m" : lets("admn") ? "a" : "o"
  const isConfirmed = confirmedRoutes.has(`${method} ${path}`)
  const inSession = way === "r" ? (isConfirmed ? ".c" : ".s") : isConfirmed ? ".s" : ".u"
  const session = lets("pat") ? "" : inSession
  // Reads for admins are `adm.r`, because `a.r` means account reads.
  if (role === "a" && way === "r") return "adm.r"
  return `${role}.${way}${session}${way === "w" && lets("arch") ? ".o" : ""}`
}

const columns = new Map(everyRoute.map((route) => [route, columnOf(rowOf(route.method, route.path))]))
const routes = everyRoute.filter((route) => columns.get(route) !== undefined)

const checkRow = Effect.fnUntraced(function* (row: ReturnType<typeof parse>[number]) {
  const principals = yield* Principals
  const credential = principals.get(row.name)
  if (credential === undefined) throw new Error(`There is no principal "${row.name}"`)
  const wrong: Array<string> = []
  for (const route of routes) {
    const column = columns.get(route) ?? ""
    for (const kind of ["sound", "broken"] as const) {
      const { code, status, verdict } = yield* verdictOf(route, kind, credential)
      const expected = row.cells.get(column)
      if (verdict !== expected) {
        wrong.push(`${row.name}, ${kind} ${route.name} (${column}): ${expected}, not ${status} ${code}`)
      }
    }
  }
  expect(wrong).toEqual([])
})

const tests = suite(matrixApplication)
afterAll(tests.dispose)

tests.live("the permission matrix has a column for every kind of route, and a row for every kind of caller", () =>
  Effect.gen(function* () {
    const principals = yield* Principals
    const rows = parse(table)
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(principals.keys()))
    expect(new Set(rows[0]?.cells.keys())).toEqual(new Set(routes.map((route) => columns.get(route) ?? "")))
    expect(routes.length).toBeGreaterThan(90)
  })
)

const nowhere = Layer.succeed(HttpSettings, {
  baseUrl: "http://svc.example.test",
  version: "0.0.0",
  displayName: "svc",
  features: implementedFeatures,
  auth: { oidc: false, password: true }
})

tests.live("a route cannot be served if it has no access rule or its handler skips the check", () =>
  Effect.gen(function* () {
    const silent = HttpApiEndpoint.get("route", "/api/v1/route")
    const told = HttpApiEndpoint.get("route", "/api/v1/capabilities")
    const built = (endpoint: typeof silent | typeof told) => {
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

for (const row of parse(table)) tests.live(`${row.name}: admitted and refused as in the table`, () => checkRow(row))

tests.live("an archived Workspace can be read, restored and left, but not changed", () =>
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
