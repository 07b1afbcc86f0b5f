import { expect, test } from "bun:test"
import { OpenApi } from "effect/http-api"
import { SvcApi } from "../../../schema/api/SvcApi.ts"

/** Names of settings that only the operator may set, in the policy file and the server's settings. */
const operatorOnly = new Set([
  "allowOrigins",
  "baseConfigs",
  "gitAllowOrigins",
  "isolation",
  "lifecycle",
  "limits",
  "masterKey",
  "policy",
  "policyFile",
  "postApply",
  "profile",
  "profileDigest",
  "profiles",
  "runnerIsolation"
])

const document: unknown = JSON.parse(JSON.stringify(OpenApi.fromApi(SvcApi)))

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const resolved = (reference: string): unknown => reference.split("/").slice(1).reduce(memberOf, document)

/** Collects the names of all fields in a schema, following each reference once. */
const fieldsOf = (schema: unknown, seen: Set<string> = new Set()): ReadonlyArray<string> => {
  if (typeof schema !== "object" || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]): ReadonlyArray<string> => {
    if (key === "$ref" && typeof value === "string") {
      if (seen.has(value)) return []
      seen.add(value)
      return fieldsOf(resolved(value), seen)
    }
    const own = key === "properties" && typeof value === "object" && value !== null ? Object.keys(value) : []
    return [...own, ...fieldsOf(value, seen)]
  })
}

test("no route accepts isolation, allowed origins, keys, profiles or base configurations", () => {
  const bodies = Object.entries(Object(memberOf(document, "paths"))).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).flatMap(([method, operation]) => {
      const body = memberOf(operation, "requestBody")
      return body === undefined ? [] : [{ route: `${method} ${path}`, fields: fieldsOf(body) }]
    })
  )
  // Checks that the search works: it must find bodies, and a nested field that is known to exist.
  expect(bodies.length).toBeGreaterThan(30)
  expect(bodies.find(({ route }) => route.endsWith("/install-config-re-adoptions"))?.fields).toContain("authorityGuard")
  expect(
    bodies.flatMap(({ fields, route }) =>
      fields.filter((name) => operatorOnly.has(name)).map((name) => `${route}: ${name}`)
    )
  ).toEqual([])
})
