import { expect, test } from "bun:test"
import { HttpApi } from "effect/http-api"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { SvcApi } from "../../schema/api/SvcApi.ts"
import { call } from "../../src/dashboard/api/Call.ts"
import * as endpoints from "../../src/dashboard/api/Endpoints.ts"
import { address } from "../../src/dashboard/api/Url.ts"

const dashboard = fileURLToPath(new URL("../../src/dashboard/", import.meta.url))
const list = "api/Endpoints.ts"

/** Returns every declared route, keyed by its name in the dashboard's list. */
const declared = (): ReadonlyMap<string, string> => {
  const lines = new Map<string, string>()
  HttpApi.reflect(SvcApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => {
      const operation = endpoint.identifier.charAt(0).toUpperCase() + endpoint.identifier.slice(1)
      lines.set(`${group.identifier}${operation}`, `${endpoint.method} ${endpoint.path}`)
    }
  })
  return lines
}

test("the dashboard's list of routes matches the API's declarations, under the same names", () => {
  const lines = declared()
  expect(Object.keys(endpoints).length).toBeGreaterThan(70)
  const other = Object.entries(endpoints).filter(([name, line]) => lines.get(name) !== line)
  expect(other).toEqual([])
})

test("no other file in the dashboard contains an API path", () => {
  const files = readdirSync(dashboard, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name))
  expect(files).toContain(list)
  const naming = files.filter((name) => readFileSync(`${dashboard}${name}`, "utf8").includes("/api/v1"))
  expect(naming).toEqual([list])
})

test("an address contains encoded parameters, and only the query parameters that have a value", () => {
  const params = { workspaceId: "ws_1", subject: "a/b c?" }
  expect(address(endpoints.workspacesUpdateMember, { params })).toBe("/api/v1/workspaces/ws_1/members/a%2Fb%20c%3F")
  expect(
    address(endpoints.workspacesRuns, { params: { workspaceId: "ws_1" }, query: { cursor: undefined, limit: "5" } })
  ).toBe("/api/v1/workspaces/ws_1/runs?limit=5")
})

// Type-checked but never called. Each line must be a type error, and the checker also reports an expected error that does not
// occur.
export const refusedByTypes = async () => {
  // @ts-expect-error: the API has no such route
  await call("GET /api/v1/capsule/:capsuleId", { params: { capsuleId: "cap_1" } })
  // @ts-expect-error: a parameter of the path is missing
  await call(endpoints.capsulesRead)
  // @ts-expect-error: a parameter with a wrong name
  await call(endpoints.capsulesRead, { params: { id: "cap_1" } })
  // @ts-expect-error: the query has no such key
  await call(endpoints.workspacesRuns, { params: { workspaceId: "ws_1" }, query: { page: "2" } })
  // @ts-expect-error: the body is missing
  await call(endpoints.capsulesRelease, { params: { capsuleId: "cap_1" } })
  // @ts-expect-error: the body has no such field
  await call(endpoints.runsCancel, { params: { runId: "run_1" }, body: { because: "" } })
  // @ts-expect-error: an idempotency key on a route that does not accept one
  await call(endpoints.runsCancel, { params: { runId: "run_1" }, idempotencyKey: "" })
  const { run } = await call(endpoints.runsRead, { params: { runId: "run_1" } })
  // @ts-expect-error: the answer has no such field
  return run.nothing
}
