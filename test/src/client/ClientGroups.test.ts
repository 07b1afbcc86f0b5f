import { describe, expect, test } from "bun:test"
import { Effect, identity } from "effect"
import { HttpClient } from "effect/http"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { clientGroups, type SvcClientShape } from "../../../src/client/ClientGroups.ts"

const newClient = () =>
  clientGroups({
    baseUrl: "http://svc.example.test",
    httpClient: HttpClient.make(() => Effect.die("No request is sent.")),
    transformResponse: identity
  })

const isBuilt = (client: SvcClientShape, name: string) =>
  Object.getOwnPropertyDescriptor(client, name)?.get === undefined

describe("Client groups", () => {
  test("a client has the groups of the API, each with all of its methods", () => {
    const client = newClient()
    expect(Object.keys(client).toSorted()).toEqual(Object.keys(SvcApi.groups).toSorted())
    const methods = Object.entries<object>({ ...client }).map(
      ([name, group]) => [name, Object.keys(group).toSorted()] as const
    )
    expect(Object.fromEntries(methods)).toEqual(
      Object.fromEntries(
        Object.entries(SvcApi.groups).map(([name, group]) => [name, Object.keys(group.endpoints).toSorted()])
      )
    )
  })

  test("a client builds each group only once, on first use", () => {
    const client = newClient()
    expect(Object.keys(client).filter((name) => isBuilt(client, name))).toEqual([])
    const first = client.workspaces
    expect(client.workspaces).toBe(first)
    expect(Object.keys(client).filter((name) => isBuilt(client, name))).toEqual(["workspaces"])
  })
})
