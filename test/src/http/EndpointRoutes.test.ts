import { expect, test } from "bun:test"
import { HttpApi } from "effect/http-api"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { answersOf } from "../../../src/http/handlers/StoredAnswers.ts"

test("all reads build their responses themselves, using the request's services", () => {
  const found: Array<string> = []
  HttpApi.reflect(SvcApi, {
    predicate: ({ endpoint }) => endpoint.method === "GET",
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      if (!answersOf(group.identifier).has(endpoint.identifier))
        found.push(`${group.identifier}.${endpoint.identifier}`)
    }
  })
  expect(found).toEqual([])
})
