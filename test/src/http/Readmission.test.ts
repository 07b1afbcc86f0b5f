import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { suite } from "../../support/Effect.ts"
import { type Route, routes, verdictOf } from "./support/RouteRequests.ts"
import { ownersCredential, servedWorld } from "./support/ServedWorld.ts"
import { world } from "./support/World.ts"

setDefaultTimeout(60_000)

const { interruptedRequest, served } = servedWorld()
const tests = suite(served)
afterAll(tests.dispose)

const nameOf = ({ method, path }: Route) => `${method} ${path}`

/**
 * Routes whose example request ends before a transaction begins, each with the reason. `CommandRaces.test.ts` covers their
 * commands.
 */
const withoutTransaction = new Map([
  ["POST /api/v1/workspaces/:workspaceId/members", "the body names nobody"],
  ["POST /api/v1/workspaces/:workspaceId/interface-materialization-failures/:intentId/retries", "no id of an intent"],
  ["POST /api/v1/workspaces/:workspaceId/drift-check", "no Capsule of the world was applied"],
  ["POST /api/v1/workspaces/:workspaceId/members/:subject/tokens", "the example asks for no known scope"],
  ["POST /api/v1/workspaces/:workspaceId/members/:subject/tokens/:tokenId/revoke", "no id of a token"],
  ["POST /api/v1/workspaces/:workspaceId/state-uploads", "the file is no state"],
  ["PUT /api/v1/capsules/:capsuleId/provider-bindings", "retired"],
  ["PATCH /api/v1/capsule-configs/:capsuleConfigId", "retired"],
  ["POST /api/v1/workspaces/:workspaceId/backup-uploads", "the file is no backup"],
  ["POST /api/v1/capsules/:capsuleId/exports", "the Capsule of the world was not applied"],
  ["POST /api/v1/workspaces/:workspaceId/source-ref-resolutions/stable-semver", "writes nothing"],
  ["POST /api/v1/sources/:sourceId/revisions", "writes nothing"],
  ["POST /api/v1/run-groups/:runGroupId/approve", "the group of the world has no Run"],
  ["POST /api/v1/runs/:runId/release", "no agent holds the Run"],
  ["POST /api/v1/connections/:connectionId/origins/confirm", "the body names no origin"],
  ["POST /api/v1/pull-requests/:pullRequestId/plan", "the body names no commit"],
  ["POST /api/v1/connections/oauth/:helperId/start", "the server has no helper"],
  ["POST /api/v1/connections/github-app/start", "the body names no address"]
])

const changes = routes.filter(({ method, rule }) => method !== "GET" && rule.kind === "workspace")

const membership = Effect.fnUntraced(function* (status: "active" | "suspended") {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(sql`UPDATE memberships SET status = ${status}
    WHERE workspace_id = ${world.workspaceA} AND subject = ${world.ada}`)
})

/** Returns the events that the person's requests have written to the history. */
const recorded = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const events = yield* sql`SELECT id FROM audit_events WHERE actor_subject = ${world.ada}`
  return events.length
})

tests.live("a person who is removed after admission cannot change anything in the transaction", () =>
  Effect.gen(function* () {
    const credentialOf = yield* ownersCredential
    const wrong: Array<string> = []
    for (const route of changes.filter((one) => !withoutTransaction.has(nameOf(one)))) {
      const before = yield* recorded
      const asked = verdictOf(route, "sound", credentialOf(route))
      const [{ code, status }, happened] = yield* interruptedRequest(asked, membership("suspended"))
      yield* membership("active")
      const isRefused = happened && status === 403 && code === "permission_denied"
      const left = (yield* recorded) - before
      if (!isRefused || left > 0) wrong.push(`${nameOf(route)}: ${status} ${code}, ${left} recorded, ${happened}`)
    }
    expect(wrong).toEqual([])
    const names = new Set(changes.map(nameOf))
    expect([...withoutTransaction.keys()].filter((name) => !names.has(name))).toEqual([])
  })
)
