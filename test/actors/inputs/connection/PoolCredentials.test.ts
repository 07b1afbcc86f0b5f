import { describe, expect, test } from "bun:test"
import { Effect, Result, Schema } from "effect"
import { poolProblem } from "../../../../actors/inputs/connection/ConnectionChangeProblem.ts"
import { checkConnection } from "../../../../actors/inputs/connection/ConnectionRules.ts"
import { poolCredentialsProblem, providedOf } from "../../../../actors/inputs/connection/PoolCredentials.ts"
import { withoutArguments } from "../../../../actors/running/execution/PoolObstacle.ts"
import { defaultGitPolicy } from "../../../../runner/git/GitPolicy.ts"
import { PoolName } from "../../../../schema/agent/PoolName.ts"
import { CreateConnection } from "../../../../schema/api/ConnectionsApi.ts"
import { ConnectionId } from "../../../../schema/records/Ids.ts"

const decode = Schema.decodeUnknownSync(CreateConnection)
const far = PoolName.make("far")
const providedBy = { pool: far, name: "cloud" }

const told = (given: Readonly<Record<string, unknown>>) => {
  const request = decode({
    workspaceId: "ws_00000000000000000000000000000000",
    provider: "example.test/acme/demo",
    displayName: "demo",
    providedBy,
    ...given
  })
  const result = Effect.runSync(Effect.result(checkConnection(request, defaultGitPolicy)))
  return Result.isFailure(result) ? result.failure.message : undefined
}

describe("Pool credentials", () => {
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    [
      "Git",
      { kind: "git_https", origins: ["https://git.example.com"] },
      "repositories are fetched by the control plane"
    ],
    ["origins", { origins: ["https://git.example.com"] }, "repositories are fetched by the control plane"],
    ["the pool of the control plane", { providedBy: { pool: "local", name: "cloud" } }, "local is the control plane"],
    ["values besides", { values: { DEMO_TOKEN: "kq7zx-1f0p" } }, "the values stay with the agents"],
    ["files besides", { files: [{ name: "key", content: "kq7zx-1f0p" }] }, "the values stay with the agents"],
    ["a recipe", { recipeId: "aws-access-key", provider: "hashicorp/aws" }, "a recipe lists values"],
    ["a mode of a recipe", { authMode: "none" }, "a recipe lists values"],
    ["a secret in the configuration", { providerConfig: { token: "x" } }, "looks like a credential"]
  ])("a pool credential is refused with %s, and the error gives the reason", (_, given, reason) => {
    expect(told(given)).toContain(reason)
  })

  test("a Connection whose values are held by a pool may include values that are not secret", () => {
    expect(told({})).toBeUndefined()
    expect(
      told({ providerConfig: { region: "eu-west-1" }, moduleInputDefaults: { region: "eu-west-1" } })
    ).toBeUndefined()
  })

  test("a Connection whose values are held by a pool refers to the pool and to a name in that pool", () => {
    expect(providedOf({ provided_pool: far, provided_name: "cloud" })).toEqual(providedBy)
    expect(providedOf({ provided_pool: null, provided_name: null })).toBeUndefined()
    expect(poolCredentialsProblem({ values: { DEMO_TOKEN: "kq7zx-1f0p" } })).toBeUndefined()
  })

  test("values cannot be stored later in a Connection whose values are held by a pool", () => {
    const row = { provided_pool: far, provided_name: "cloud" }
    expect(poolProblem(row, { values: {} })?.message).toContain("Change them there")
    expect(poolProblem(row, { files: [] })?.message).toContain("Change them there")
    expect(poolProblem(row, {})).toBeUndefined()
    expect(poolProblem({ provided_pool: null, provided_name: null }, { values: {} })).toBeUndefined()
  })
})

describe("Provider configurations", () => {
  const [one, two] = [
    ConnectionId.make("conn_aaaaaaaaaaaaaaaaaaaaaaaa"),
    ConnectionId.make("conn_bbbbbbbbbbbbbbbbbbbbbbbb")
  ]
  const used = (id: ConnectionId, isOfPool: boolean, provider = "acme/demo", childAlias?: string) => ({
    requirement: { provider, moduleLocalName: "demo", ...(childAlias === undefined ? {} : { childAlias }) },
    row: { id, provided_pool: isOfPool ? far : null, provided_name: isOfPool ? "cloud" : null }
  })
  const statuses = (given: ReadonlyArray<ReturnType<typeof used>>) =>
    withoutArguments(
      given.map(({ requirement, row }) => ({
        ...requirement,
        status: "resolved_provider_connection" as const,
        connectionId: row.id,
        envNames: []
      })),
      given
    ).map(({ status }) => status)

  test("if one configuration of a provider uses credentials held by a pool, the other configurations must use the same credentials", () => {
    const resolved = "resolved_provider_connection"
    expect(statuses([used(one, true), used(one, true, "acme/demo", "b")])).toEqual([resolved, resolved])
    expect(statuses([used(one, false), used(two, false, "acme/demo", "b")])).toEqual([resolved, resolved])
    expect(statuses([used(one, true), used(two, false, "acme/other")])).toEqual([resolved, resolved])
    for (const isOfPool of [true, false]) {
      expect(statuses([used(one, true), used(two, isOfPool, "registry.opentofu.org/acme/demo", "b")])).toEqual([
        "blocked_policy",
        "blocked_policy"
      ])
    }
  })
})
