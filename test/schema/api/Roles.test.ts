import { expect, test } from "bun:test"
import { HttpApi } from "effect/http-api"
import { accessOf, accessTable } from "../../../schema/api/Roles.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"

test("every endpoint has a row in the access table, and every row has an endpoint", () => {
  const declared = new Set<string>()
  HttpApi.reflect(SvcApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      declared.add(`${endpoint.method} ${endpoint.path}`)
    }
  })
  expect(declared.size).toBeGreaterThan(100)
  expect([...declared].toSorted()).toEqual(Object.keys(accessTable).toSorted())
})

test("looking up the access rule of an endpoint without a row fails", () => {
  expect(accessOf({ method: "GET", path: "/api/v1/capabilities" })).toEqual({ kind: "public" })
  expect(() => accessOf({ method: "POST", path: "/api/v1/capabilities" })).toThrow("Say there who may call it")
})
