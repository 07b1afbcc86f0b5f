import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/account/AccessTokens.ts"
import { Sessions } from "../../../actors/account/Sessions.ts"
import { serviceContext } from "../../../actors/Command.ts"
import { controlPlaneOf } from "../../../src/Composition.ts"
import { listener } from "../../../src/composition/HttpLayer.ts"
import { machineWith } from "../../../src/composition/Machine.ts"
import { platform } from "../../../src/composition/Platform.ts"
import * as Database from "../../../src/database/Database.ts"
import { HttpHandler } from "../../../src/http/HttpApplication.ts"
import { logging } from "../../../src/observability/Logging.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { beforeTransaction } from "../../support/BeforeTransaction.ts"
import { suite } from "../../support/Effect.ts"
import { migratedFolder } from "../../support/MigratedDatabase.ts"
import { type Route, routes, verdictOf } from "./support/RouteRequests.ts"
import { TestApplication } from "./support/TestApplication.ts"
import { seed, world } from "./support/World.ts"

setDefaultTimeout(60_000)

const { interruptedRequest, layer: writer } = beforeTransaction()

/** The whole service over the test's world, with real actors. */
const served = Layer.unwrap(
  Effect.gen(function* () {
    const dataDir = yield* migratedFolder
    const settings = yield* loadSettings(
      new Map(Object.entries({ dataDir, listen: "127.0.0.1:0", log: "none", toolDownload: "off" })),
      Option.none()
    )
    return controlPlaneOf(settings, {
      http: listener(settings),
      database: writer.pipe(Layer.provideMerge(Database.layer)),
      runner: machineWith(settings, Sandbox.layer)
    })
  })
)

const tests = suite(
  Layer.effect(
    TestApplication,
    Effect.gen(function* () {
      yield* seed
      return { handler: (yield* HttpHandler).handler }
    })
  ).pipe(
    Layer.provideMerge(served),
    Layer.provideMerge(logging({ level: "error", format: "json" })),
    Layer.provideMerge(platform),
    Layer.orDie
  )
)
afterAll(tests.dispose)

const wantsSession = ({ rule }: Route) =>
  rule.kind === "workspace" && (rule.session === true || rule.confirmed === true)

const credentials = Effect.gen(function* () {
  const session = yield* (yield* Sessions).open({ subject: world.ada, method: "password" })
  const token = yield* (yield* AccessTokens).create(serviceContext, world.ada, {
    name: "readmission",
    scopes: ["read", "write"]
  })
  return {
    session: { cookie: `svc_session=${Redacted.value(session.secret)}`, "sec-fetch-site": "same-origin" },
    token: { authorization: `Bearer ${Redacted.value(token.secret)}` }
  }
})

const nameOf = ({ method, path }: Route) => `${method} ${path}`

/** Routes whose example ends before a transaction, with the reason; the changes behind them are in `StaleReads.test.ts`. */
const withoutTransaction = new Map([
  ["POST /api/v1/workspaces/:workspaceId/members", "the body names nobody"],
  ["POST /api/v1/workspaces/:workspaceId/interface-materialization-failures/:intentId/retries", "no id of an intent"],
  ["POST /api/v1/workspaces/:workspaceId/drift-check", "no Capsule of the world was applied"],
  ["POST /api/v1/workspaces/:workspaceId/members/:subject/tokens", "the example asks for no known scope"],
  ["POST /api/v1/workspaces/:workspaceId/members/:subject/tokens/:tokenId/revoke", "no id of a token"],
  ["POST /api/v1/install-plans/:installPlanId/reconcile", "no id of an install plan"],
  ["POST /api/v1/workspaces/:workspaceId/state-uploads", "the file is no state"],
  ["PUT /api/v1/capsules/:capsuleId/provider-bindings", "retired"],
  ["PATCH /api/v1/capsule-configs/:capsuleConfigId", "retired"],
  ["POST /api/v1/workspaces/:workspaceId/backup-uploads", "the file is no backup"],
  ["POST /api/v1/capsules/:capsuleId/exports", "the Capsule of the world was not applied"],
  ["POST /api/v1/workspaces/:workspaceId/source-ref-resolutions/stable-semver", "writes nothing"],
  ["POST /api/v1/run-groups/:runGroupId/approve", "the group of the world has no Run"],
  ["POST /api/v1/runs/:runId/release", "no agent holds the Run"],
  ["POST /api/v1/connections/:connectionId/origins/confirm", "the body names no origin"],
  ["POST /api/v1/connections/oauth/:helperId/start", "the server has no helper"]
])

const changes = routes.filter(({ method, rule }) => method !== "GET" && rule.kind === "workspace")

const membership = Effect.fnUntraced(function* (status: "active" | "suspended") {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(sql`UPDATE memberships SET status = ${status}
    WHERE workspace_id = ${world.workspaceA} AND subject = ${world.ada}`)
})

/** What the person's requests left in the history. */
const recorded = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const events = yield* sql`SELECT id FROM audit_events WHERE actor_subject = ${world.ada}`
  return events.length
})

tests.live("refuses every change of somebody who is removed between the admission and the transaction", () =>
  Effect.gen(function* () {
    const { session, token } = yield* credentials
    const wrong: Array<string> = []
    for (const route of changes.filter((one) => !withoutTransaction.has(nameOf(one)))) {
      const before = yield* recorded
      const asked = verdictOf(route, "sound", wantsSession(route) ? session : token)
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
