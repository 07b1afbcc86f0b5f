import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { ConfigProvider, Effect, FileSystem, Redacted, Schema } from "effect"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { AutomationMembers } from "../../../actors/access/member/AutomationMembers.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { joinWorkspace } from "../../support/Accounts.ts"
import { canarySweep } from "../../support/CanarySweep.ts"
import { suite } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { folder, svc } from "../cli/support/CommandLine.ts"
import { operations } from "./support/ApiExamples.ts"
import { type Route, routes } from "./support/RouteRequests.ts"
import { freshKey, servedPlane } from "./support/ServedPlane.ts"

setDefaultTimeout(180_000)

const tests = suite(platform)
afterAll(tests.dispose)

const canary = "TOPSECRET-instance"
const users = [`alice-${canary}-1`, `bob-${canary}-2`]
const keyOf = `terraform_data.user["${users[0]}"]`

const module = (resource: string, more = "") => ({
  "main.tf": `variable "users" {
      type      = list(string)
      sensitive = true
    }
    resource "terraform_data" "${resource}" {
      for_each = nonsensitive(toset(var.users))
      input    = "same"
    }
    output "plain" { value = "shown" }
    ${more}`
})

/**
 * Path parameters that identify records which do not exist in this Workspace. Reads with these parameters always return
 * `not_found`.
 */
const absent = new Set([
  "connectionId",
  "deliveryId",
  "endpointId",
  "exportLink",
  "helperId",
  "leftOverStateId",
  "pullRequestId",
  "runGroupId"
])

const Row = rowShape({ id: Schema.String })

const scene = Effect.gen(function* () {
  const plane = yield* servedPlane({ files: module("user") })
  const { applied, call, capsule, commit, ended, installed, services, sql, subject, workspaceId } = plane
  const { capsuleId, installPlan, planRunId } = yield* installed("keys", { variables: { users } })
  const first = yield* applied(planRunId)
  expect(first.status).toBe("succeeded")
  // Creates a second generation of the configuration that moves both resources, and then a drift check and a backup.
  yield* commit(module("person", "moved {\n from = terraform_data.user\n to = terraform_data.person\n }"))
  const asked = Effect.fnUntraced(function* (path: string, body: unknown = {}) {
    const answer = yield* call("POST", `/api/v1${path}`, { headers: freshKey(), body })
    return answer.status < 300 ? answer.body : yield* Effect.die(new Error(JSON.stringify([path, answer.body])))
  })
  const { sourceId } = yield* capsule(capsuleId)
  yield* ended((yield* asked(`/sources/${sourceId}/sync`)).run.id)
  const second = yield* applied((yield* asked(`/capsules/${capsuleId}/plan`)).run.id)
  expect(second.status).toBe("succeeded")
  yield* ended((yield* asked(`/capsules/${capsuleId}/drift-check`)).run.id)
  yield* asked(`/capsules/${capsuleId}/backups`)
  const { revisionPlan } = yield* asked(`/capsules/${capsuleId}/revision-plans`, { ref: "main" })
  // An event stream ends only when its Run ends, so the test first ends every Run, including open plans.
  const planned = yield* eventually(
    call("GET", `/api/v1/revision-plans/${revisionPlan.id}`),
    ({ body }) => body.revisionPlan.phase === "reviewable"
  )
  yield* asked(`/runs/${planned.body.revisionPlan.planRunId}/cancel`)
  for (const { id } of yield* Row.rows(sql)`SELECT id FROM runs`) yield* ended(id)

  const viewer = yield* Effect.gen(function* () {
    const viewer = yield* (yield* Users).create(serviceContext, { email: "viewer@example.test", isOperator: false })
    yield* joinWorkspace(subject, WorkspaceId.make(workspaceId), viewer.subject, "viewer")
    const token = yield* (yield* AccessTokens).create(serviceContext, viewer.subject, { name: "n", scopes: ["read"] })
    const session = yield* (yield* Sessions).open({ subject: viewer.subject, method: "password" })
    const acting = { workspaceId: WorkspaceId.make(workspaceId), acting: { subject } }
    const automation = yield* (yield* AutomationMembers).create(serviceContext, acting, { displayName: "ci" })
    return {
      automation: automation.subject,
      subject: viewer.subject,
      token: Redacted.value(token.secret),
      headers: [
        { authorization: `Bearer ${Redacted.value(token.secret)}` },
        { cookie: `svc_session=${Redacted.value(session.secret)}`, "sec-fetch-site": "same-origin" }
      ]
    }
  }).pipe(Effect.provide(services))

  const idsIn = (table: string) =>
    Effect.map(Row.rows(sql)`SELECT id FROM ${sql(table)}`, (rows) => rows.map(({ id }) => id))
  const names: Readonly<Record<string, ReadonlyArray<string>>> = {
    workspaceId: [workspaceId],
    capsuleId: [capsuleId],
    sourceId: [sourceId],
    installPlanId: [installPlan.id],
    revisionPlanId: [revisionPlan.id],
    subject: [viewer.subject, subject, viewer.automation],
    projectId: yield* idsIn("projects"),
    runId: yield* idsIn("runs"),
    stateVersionId: yield* idsIn("state_versions"),
    backupId: yield* idsIn("backups"),
    capsuleConfigId: yield* idsIn("install_configs"),
    sourceSnapshotId: yield* idsIn("source_snapshots"),
    reportId: yield* idsIn("compatibility_reports")
  }
  return { ...plane, capsuleId, names, viewer }
})

/** Returns the path completed with every combination of ids. */
const pathsOf = (path: string, names: Readonly<Record<string, ReadonlyArray<string>>>): ReadonlyArray<string> => {
  const name = /:(\w+)/.exec(path)?.[1]
  if (name === undefined) return [path]
  const values = absent.has(name) ? ["absent"] : (names[name] ?? [])
  if (values.length === 0) throw new Error(`${path} needs a value for ${name} here.`)
  return values.flatMap((value) => pathsOf(path.replace(`:${name}`, value), names))
}

/** Returns the queries for a route: its required parameters alone, and again with the secret in every text filter. */
const queriesOf = ({ path }: Route, names: Readonly<Record<string, ReadonlyArray<string>>>, address: string) => {
  const found = operations.find((known) => known.method === "GET" && known.path === path)
  const query = (found?.operation.parameters ?? []).filter((parameter) => parameter.in === "query")
  const given: Readonly<Record<string, string>> = {
    address,
    path: "main.tf",
    capsuleIds: names["capsuleId"]?.[0] ?? "",
    workspaceId: names["workspaceId"]?.[0] ?? ""
  }
  const needed = Object.fromEntries(
    query.filter(({ required }) => required).map(({ name }) => [name, given[name] ?? ""])
  )
  return [
    needed,
    ...query
      .filter(({ name }) => name === "search" || name === "address")
      .flatMap(({ name }) => [users[0] ?? "", canary, keyOf].map((text) => ({ ...needed, [name]: text }))),
    ...query.filter(({ name }) => name === "view").map(({ name }) => ({ ...needed, [name]: "changes" }))
  ].map((filters) => new URLSearchParams(filters).toString())
}

describe.skipIf(Bun.which("terraform") === null)("Secret instance keys", () => {
  tests.live("no API response, event stream, opened backup or terminal output contains a secret instance key", () =>
    Effect.gen(function* () {
      const { asPerson, capsuleId, dataDir, names, url, viewer } = yield* scene
      const reads = routes.filter(({ method }) => method === "GET")
      expect(reads.length).toBeGreaterThan(60)
      const get = (path: string, headers: Readonly<Record<string, string>>) =>
        Effect.promise(async () => {
          const response = await fetch(`${url}${path}`, { headers, redirect: "manual" })
          const told = JSON.stringify([response.status, response.statusText, ...response.headers])
          return { status: response.status, told, body: await response.text() }
        })

      const [bearer = {}] = viewer.headers
      const listed = yield* get(`/api/v1/capsules/${capsuleId}/resources`, bearer)
      const hidden = [...listed.body.matchAll(/terraform_data\.person\[\\"\[redacted key [0-9a-f]{12}\]\\"\]/g)]
      expect(new Set(hidden.map(([address]) => address)).size).toBe(2)
      const address = hidden[0]?.[0].replaceAll('\\"', '"') ?? ""

      const answered = new Set<string>()
      const showing = new Set<string>()
      const leaks: Array<string> = []
      for (const route of reads) {
        for (const path of pathsOf(route.path, names)) {
          for (const query of queriesOf(route, names, address)) {
            for (const credential of [...viewer.headers, asPerson]) {
              for (const accept of ["application/json", "text/event-stream"]) {
                const { body, status, told } = yield* get(query === "" ? path : `${path}?${query}`, {
                  ...credential,
                  accept
                })
                if (told.includes(canary) || body.includes(canary)) leaks.push(`${status} ${path}?${query} ${accept}`)
                if (status === 200) answered.add(route.path)
                if (body.includes("[redacted key ")) showing.add(`${route.path} ${accept}`)
              }
            }
          }
        }
      }
      expect(leaks).toEqual([])
      // Every other read must succeed for the viewer or the owner, because a refusal would prove nothing. The pages of a GitHub
      // App need a flow that its owner has started.
      const isRefused = ({ path, rule }: Route) =>
        [...absent].some((name) => path.includes(`:${name}`)) ||
        path.startsWith("/api/v1/connections/github-app/") ||
        (rule.kind === "workspace" && rule.confirmed === true)
      const unanswered = reads.filter((route) => !answered.has(route.path) && !isRefused(route))
      expect(unanswered.map(({ path }) => path)).toEqual([])
      expect([...showing]).toEqual(
        expect.arrayContaining([
          "/api/v1/capsules/:capsuleId/resources application/json",
          "/api/v1/capsules/:capsuleId/resource-history application/json",
          "/api/v1/state-versions/:stateVersionId/difference application/json",
          "/api/v1/runs/:runId application/json",
          "/api/v1/runs/:runId/events application/json",
          "/api/v1/runs/:runId/events text/event-stream",
          "/api/v1/runs/:runId/logs application/json",
          "/api/v1/runs/:runId/logs text/event-stream"
        ])
      )

      const terminal = ConfigProvider.layer(
        ConfigProvider.fromEnvRecord({
          HOME: "/nowhere",
          SVC_TOKEN: viewer.token,
          SVC_URL: url,
          SVC_WORKSPACE: "ada"
        })
      )
      for (const json of [[], ["--json"]]) {
        const shown = yield* svc(["capsule", "resources", "keys", ...json]).pipe(Effect.provide(terminal))
        expect([shown.code, shown.error]).toEqual([0, ""])
        expect(shown.out).toContain("terraform_data.person")
        expect(shown.out).toContain("[redacted key ")
        expect(shown.out).not.toContain(canary)
      }

      // Opens the backup by restoring it. The archive itself does not contain the key.
      const files = yield* FileSystem.FileSystem
      const root = yield* folder
      expect((yield* svc(["backup", `${root}/backup`, "--data-dir", dataDir])).code).toBe(0)
      const opened = ["--data-dir", `${root}/opened`, "--master-key-file", `${dataDir}/master.key`]
      const restored = yield* svc(["restore", `${root}/backup`, ...opened])
      expect([restored.code, restored.error]).toEqual([0, ""])
      const database = Buffer.from(yield* files.readFile(`${root}/opened/svc.sqlite`))
      expect(database.includes("[redacted key ")).toBe(true)
      expect(canarySweep(root, [canary])).toEqual([])
      expect(canarySweep(dataDir, [canary])).toEqual([])
    })
  )
})
