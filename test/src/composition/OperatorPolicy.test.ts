import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { readOperatorPolicy } from "../../../src/composition/OperatorPolicy.ts"
import { it } from "../../support/Effect.ts"

const reading = (text: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
    const file = `${folder}/policy.json`
    yield* files.writeFileString(file, text)
    return yield* readOperatorPolicy(file)
  }).pipe(Effect.provide(NodeServices.layer))

const endpoint = { workspace: "acme", capsule: "web", environment: "prod", url: "https://web.example.com" }

const prices = { currency: "USD", items: [{ type: "demo_server", when: { size: "large" }, monthly: 40 }] }

describe("the policy file", () => {
  it.live("is read as a whole", () =>
    Effect.gen(function* () {
      const policy = { repositoryInstallUx: { allowedOidcScopes: ["openid"] }, endpoints: [endpoint], prices }
      expect(yield* reading(JSON.stringify(policy))).toEqual(policy)
      expect(yield* reading("{}")).toEqual({})
    })
  )

  it.live("is refused as a whole for one word that is not understood", () =>
    Effect.gen(function* () {
      const refusals = [
        "",
        "[]",
        '{"endpoint": []}',
        '{"repositoryInstallUx": {"allowedScopes": []}}',
        JSON.stringify({ endpoints: [{ ...endpoint, url: "http://web.example.com" }] }),
        JSON.stringify({ endpoints: [{ ...endpoint, host: "x" }] }),
        JSON.stringify({ prices: { ...prices, currency: "dollars" } }),
        JSON.stringify({ prices: { ...prices, items: [{ type: "demo_server", monthly: -1 }] } }),
        '{"endpoints": [], "endpoints": []}'
      ]
      for (const text of refusals) {
        const refused = yield* Effect.flip(reading(text))
        expect(refused._tag === "SettingsRefused" ? refused.message : "").toContain("The policy file")
      }
      expect(
        (yield* Effect.flip(readOperatorPolicy("/nowhere/policy.json").pipe(Effect.provide(NodeServices.layer))))
          .message
      ).toContain("cannot be read")
    })
  )
})
