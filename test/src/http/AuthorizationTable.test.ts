import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccessRule } from "../../../schema/api/Access.ts"
import { suite } from "../../support/Effect.ts"
import {
  type AuthorizationRow,
  authorizationTable,
  type CallerKind,
  callers,
  confirmableRoutes,
  confirmedRoutes,
  rowOf
} from "./AuthorizationTable.ts"
import { matrixApplication } from "./support/MatrixApplication.ts"
import { Principals } from "./support/Principals.ts"
import { routes, verdictOf } from "./support/RouteRequests.ts"
import { world } from "./support/World.ts"

const tests = suite(matrixApplication)
afterAll(tests.dispose)

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`

tests.live("every route has exactly one row, and every row has a route", () =>
  Effect.sync(() => {
    expect(authorizationTable.map(nameOf).sort()).toEqual(routes.map(nameOf).sort())
  })
)

type Declared =
  | Omit<Extract<AccessRule, { kind: "workspace" }>, "locate" | "limited" | "records" | "rebinds">
  | Exclude<AccessRule, { kind: "workspace" }>

/** Returns the access rule that a route must declare in order to match its row in the table. */
const declarationOf = ({ cells, method, path }: AuthorizationRow): Declared => {
  const lets = (caller: CallerKind) => cells.get(caller) === "ok"
  if (lets("anon")) return { kind: "public" }
  if (!lets("ownr")) return { kind: "token" }
  if (lets("othr")) {
    const credential = lets("pat") ? ("anyCredential" as const) : ("session" as const)
    return { kind: "account", credential, ...(lets("conf") ? {} : { wholeAccount: true }) }
  }
  const action = confirmableRoutes.get(`${method} ${path}`)
  const role = lets("view") ? "viewer" : lets("memb") ? "member" : lets("admn") ? "admin" : "owner"
  return {
    kind: "workspace",
    role,
    ...(lets("pat") ? {} : confirmedRoutes.has(`${method} ${path}`) ? { confirmed: true } : { session: true }),
    ...(action === undefined ? {} : { action }),
    ...(method !== "GET" && lets("arch") ? { archived: "open" as const } : {})
  }
}

const withoutLocator = (rule: AccessRule): Declared => {
  if (rule.kind !== "workspace") return rule
  // LimitedTokens.test.ts and NamedRecords.test.ts cover limited tokens.
  const { limited: _limited, locate: _, rebinds: _rebinds, records: _records, ...declared } = rule
  return declared
}

tests.live("every route declares the access that its row specifies", () =>
  Effect.sync(() => {
    const declared = Object.fromEntries(routes.map((route) => [nameOf(route), withoutLocator(route.rule)]))
    const written = Object.fromEntries(authorizationTable.map((row) => [nameOf(row), declarationOf(row)]))
    expect(declared).toEqual(written)
  })
)

/** Archives Workspace A while the effect runs, if the test for this caller needs an archived Workspace. */
const asFoundBy = <A, E, R>(caller: CallerKind, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (caller !== "arch") return yield* effect
    const archive = (at: string | null) => sql`UPDATE workspaces SET archived_at = ${at} WHERE id = ${world.workspaceA}`
    return yield* Effect.acquireUseRelease(
      archive("2026-02-01T00:00:00.000Z"),
      () => effect,
      () => Effect.orDie(archive(null))
    )
  })

tests.live("an owner whose confirmation is too old is refused only where a confirmation is required", () =>
  Effect.gen(function* () {
    const credential = (yield* Principals).get("owner not seen for long")
    if (credential === undefined) return yield* Effect.die("There is no such principal")
    const asked: Array<string> = []
    for (const route of routes) {
      for (const kind of ["sound", "broken"] as const) {
        const { code } = yield* verdictOf(route, kind, credential)
        if (code === "reauthentication_required") asked.push(nameOf(route))
      }
    }
    // Access is checked before the body, so an invalid body gets the same response.
    expect(asked.toSorted()).toEqual([...confirmedRoutes, ...confirmedRoutes].toSorted())
  })
)

for (const [caller, principal] of callers) {
  tests.live(
    `the API responds to ${principal}${caller === "arch" ? " of an archived Workspace" : ""} as each row specifies`,
    () =>
      Effect.gen(function* () {
        const credential = (yield* Principals).get(principal)
        if (credential === undefined) return yield* Effect.die(`There is no principal "${principal}"`)
        const wrong: Array<string> = []
        for (const route of routes) {
          const expected = rowOf(route.method, route.path).cells.get(caller)
          // Public routes, and routes that read their own bearer token, are tried only with valid requests, because they have no
          // access check that could precede validation.
          const open = route.rule.kind === "public" || route.rule.kind === "token"
          for (const kind of open ? (["sound"] as const) : (["sound", "broken"] as const)) {
            const { code, status, verdict } = yield* verdictOf(route, kind, credential)
            if (verdict !== expected) wrong.push(`${kind} ${nameOf(route)}: ${expected}, not ${status} ${code}`)
          }
        }
        expect(wrong).toEqual([])
      }).pipe((check) => asFoundBy(caller, check))
  )
}
