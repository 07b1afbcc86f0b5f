import { Context, Effect, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { RawBody } from "../../../../schema/api/RawBody.ts"
import type { AccessRule } from "../../../../schema/api/Access.ts"
import { accessOf } from "../../../../schema/api/Roles.ts"
import { SvcApi } from "../../../../schema/api/SvcApi.ts"
import { ErrorEnvelope } from "../../../../schema/errors/ApiError.ts"
import { exampleBody } from "./ApiExamples.ts"
import { send } from "./TestApplication.ts"
import { world } from "./World.ts"

export interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly rule: AccessRule
  /** True if the body is a file. */
  readonly isFile: boolean
}

/** Every route of the API, with its declared rule. */
export const routes: ReadonlyArray<Route> = (() => {
  const found: Array<Route> = []
  HttpApi.reflect(SvcApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const { method, path } = endpoint
      const rule = accessOf(endpoint)
      found.push({
        name: `${group.identifier}.${endpoint.identifier}`,
        method,
        path,
        rule,
        isFile: Context.get(endpoint.annotations, RawBody) !== undefined
      })
    }
  })
  return found
})()

const ids: Readonly<Record<string, string>> = { ...world, workspaceId: world.workspaceA, subject: world.viewer }
const retired: ReadonlySet<string> = new Set(["capsules.replaceProviderBindings", "capsules.updateConfig"])
// This fake fails on purpose, to test how a defect is reported.
const defective = "capsules.config"

const landings: ReadonlySet<string> = new Set([
  "connections.finishOAuth",
  "connections.gitHubAppForm",
  "connections.finishGitHubApp"
])

export type RequestKind = "sound" | "broken"

/** Builds a request that the route accepts, or the same request with a fault that only validation detects. */
const requestOf = (route: Route, kind: RequestKind) => {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "helper")
  const query = [
    ...(route.rule.kind === "workspace" && route.rule.locate === "query.workspaceId"
      ? [`workspaceId=${world.workspaceA}`]
      : []),
    ...(kind === "broken" && (route.method === "GET" || route.isFile) ? ["bogus=1"] : [])
  ]
  if (route.isFile) {
    return {
      address: query.length === 0 ? path : `${path}?${query.join("&")}`,
      headers: { "content-type": "application/octet-stream", "idempotency-key": "matrix-key-0000000000000000" },
      body: "a file"
    }
  }
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

/** Statuses that an admitted caller may get from validation or from the services. */
const admitted: ReadonlySet<number> = new Set([200, 201, 202, 204, 400, 409, 422, 501])

const settle = (route: Route, kind: RequestKind, status: number, code: string): string => {
  if (retired.has(route.name) && status === 405) return "ok"
  if (route.name === defective && kind === "sound" && status === 500) return "ok"
  // Another site composes the query for these routes, so svc never rejects a query as invalid.
  if (kind === "broken" && !landings.has(route.name))
    return status === 400 && code === "invalid_request" ? "ok" : `${status}`
  // A request for a personal record with an unknown id returns 404.
  if (route.rule.kind === "account" && status === 404) return "ok"
  return admitted.has(status) && code !== "failed_precondition" ? "ok" : `${status}`
}

/** Returns how the application treats the caller: `ok` if admitted, otherwise the status and its code. */
export const verdictOf = Effect.fnUntraced(function* (
  route: Route,
  kind: RequestKind,
  credential: Readonly<Record<string, string>>
) {
  const { address, headers, ...rest } = requestOf(route, kind)
  const response = yield* send(address, { method: route.method, headers: { ...headers, ...credential }, ...rest })
  const code = yield* codeOf(response)
  return { verdict: settle(route, kind, response.status, code), status: response.status, code }
})
