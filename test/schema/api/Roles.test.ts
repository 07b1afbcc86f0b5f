import { expect, test } from "bun:test"
import { Context } from "effect"
import { HttpApi } from "effect/http-api"
import { Access, type AccessRule } from "../../../schema/api/Access.ts"
import { accessTable } from "../../../schema/api/Roles.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"

test("every endpoint has the table's rule for its method and path, and every row has an endpoint", () => {
  const declared = new Map<string, AccessRule>()
  HttpApi.reflect(SvcApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      declared.set(`${endpoint.method} ${endpoint.path}`, Context.getUnsafe(endpoint.annotations, Access))
    }
  })
  expect(declared.size).toBeGreaterThan(100)
  expect(Object.fromEntries(declared)).toEqual(accessTable)
})
