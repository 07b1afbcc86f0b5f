import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { ProjectId } from "../../../schema/records/Ids.ts"
import { suite } from "../../support/Effect.ts"
import { text } from "../../support/Accounts.ts"
import { type CallerKind, rowOf } from "./AuthorizationTable.ts"
import { matrixApplication } from "./support/MatrixApplication.ts"
import { type Route, routes, verdictOf } from "./support/RouteRequests.ts"
import { world } from "./support/World.ts"

const tests = suite(matrixApplication)
afterAll(tests.dispose)

const otherProject = ProjectId.make(`prj_${"b".repeat(24)}`)

/** The Project and environment of the test Capsule. The Capsule's records are within the limits. */
const inPlace =
  /^\/api\/v1\/(capsules|runs|run-groups|state-versions|revision-plans|install-plans|dependencies|capsule-configs|backups)\/:/

/** Workspace routes that admit a limited token, each with its reason. */
const open = new Set([
  // Returns only the Workspace's names and settings.
  "GET /api/v1/workspaces/:workspaceId",
  // Lists only records within the limits.
  "GET /api/v1/workspaces/:workspaceId/capsules"
])

/** Capsule routes that refuse a limited token. */
const closed = new Set([
  // The body identifies the producer, which may be outside the limits.
  "POST /api/v1/capsules/:capsuleId/dependencies"
])

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const workspaceRoutes = routes.filter(({ rule }) => rule.kind === "workspace")

/** Assigns records with no Capsule, or with several Capsules, to the only Capsule in the test data. */
const placed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const times = { created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" }
  yield* sql`INSERT INTO projects ${sql.insert({ id: otherProject, workspace_id: world.workspaceA, name: "Other", slug: "other", is_default: 0, ...times })}
    ON CONFLICT DO NOTHING`
  yield* sql`UPDATE install_plans SET capsule_id = ${world.capsuleId} WHERE id = ${world.installPlanId}`
  yield* sql`INSERT INTO run_group_members ${sql.insert({ group_id: world.runGroupId, capsule_id: world.capsuleId, wave: 0 })}
    ON CONFLICT DO NOTHING`
})

const credentialWith = Effect.fnUntraced(function* (...limits: ReadonlyArray<string>) {
  yield* placed
  const tokens = yield* AccessTokens
  const { secret } = yield* tokens.create(serviceContext, world.ada, {
    name: "limited",
    scopes: ["read", "write", ...limits],
    workspaceId: world.workspaceA
  })
  return { authorization: `Bearer ${text(secret)}` }
})

const boundToken: CallerKind = "p-A"

/** Returns the routes that do not respond as the table requires, or that admit the token although `admits` is false. */
const walk = Effect.fnUntraced(function* (
  credential: { readonly authorization: string },
  admits: (route: Route) => boolean
) {
  const wrong: Array<string> = []
  for (const route of workspaceRoutes) {
    const expected = admits(route) ? rowOf(route.method, route.path).cells.get(boundToken) : "403"
    for (const kind of ["sound", "broken"] as const) {
      const { code, status, verdict } = yield* verdictOf(route, kind, credential)
      if (verdict !== expected) wrong.push(`${kind} ${nameOf(route)}: ${expected}, not ${status} ${code}`)
    }
  }
  return wrong
})

const isOpen = (route: Route) => open.has(nameOf(route))
const reaches = (route: Route) => isOpen(route) || (inPlace.test(route.path) && !closed.has(nameOf(route)))

tests.live("a token limited to a Project and an environment works there, but not elsewhere in its Workspace", () =>
  Effect.gen(function* () {
    const credential = yield* credentialWith(`project:${world.projectId}`, "environment:production")
    expect(yield* walk(credential, reaches)).toEqual([])
  })
)

for (const [what, limits] of [
  ["another Project", [`project:${otherProject}`]],
  ["another environment", ["environment:staging"]],
  ["another environment of the Project", [`project:${world.projectId}`, "environment:staging"]],
  ["the environment of another Project", [`project:${otherProject}`, "environment:production"]]
] as const) {
  tests.live(`a token limited to ${what} is refused by every route for a record outside the limit`, () =>
    Effect.gen(function* () {
      const credential = yield* credentialWith(...limits)
      expect(yield* walk(credential, isOpen)).toEqual([])
    })
  )
}

tests.live(
  "several limits of one kind admit every record that matches any of them, and a Project covers all its environments",
  () =>
    Effect.gen(function* () {
      const several = yield* credentialWith("environment:staging", "environment:production")
      expect(yield* walk(several, reaches)).toEqual([])
      const project = yield* credentialWith(`project:${otherProject}`, `project:${world.projectId}`)
      const admits = (route: Route) => reaches(route) || route.path === "/api/v1/projects/:projectId"
      expect(yield* walk(project, admits)).toEqual([])
    })
)

tests.live("a record about Capsules both inside and outside the limits is treated as outside", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const credential = yield* credentialWith(`project:${world.projectId}`)
    const [capsule] = yield* sql`SELECT * FROM capsules WHERE id = ${world.capsuleId}`
    const other = `cap_${"b".repeat(24)}`
    yield* sql`INSERT INTO capsules ${sql.insert({ ...capsule, id: other, project_id: otherProject })}`
    yield* sql`INSERT INTO run_group_members ${sql.insert({ group_id: world.runGroupId, capsule_id: other, wave: 1 })}`
    yield* sql`UPDATE dependencies SET producer_capsule_id = ${other} WHERE id = ${world.dependencyId}`
    const shared = workspaceRoutes.filter(({ path }) => /\/(run-groups|dependencies|capsule-configs)\/:/.test(path))
    const verdicts = yield* Effect.forEach(shared, (route) => verdictOf(route, "sound", credential))
    expect(shared.length).toBeGreaterThan(4)
    expect(new Set(verdicts.map(({ verdict }) => verdict))).toEqual(new Set(["403"]))
  })
)
