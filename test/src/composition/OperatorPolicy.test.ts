import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { readFile } from "node:fs/promises"
import { ConfigProvider, Effect, FileSystem } from "effect"
import { OAuthHelpers } from "../../../actors/inputs/connection/OAuthHelpers.ts"
import { oauthHelpers } from "../../../src/composition/OAuthHelpers.ts"
import { readOperatorPolicy } from "../../../src/composition/OperatorPolicyFile.ts"
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

const origin = "https://git.example.com"

const prices = { currency: "USD", items: [{ type: "demo_server", when: { size: "large" }, monthly: 40 }] }

describe("Policy file", () => {
  it.live("a policy file may contain every section of the policy, or none", () =>
    Effect.gen(function* () {
      const profile = { isolation: "bubblewrap", tool: { name: "opentofu" } } as const
      const policy = {
        repositoryInstallUx: { allowedOidcScopes: ["openid"] },
        profiles: { strict: profile },
        baseConfigs: [{ origin, profile: "strict", variables: { region: "eu-1" } }],
        endpoints: [endpoint],
        prices,
        signIn: { rules: [{ groups: ["staff"], workspaces: [{ workspaceId: "ws_4f7k2m9q3x8r5t1v", role: "viewer" }] }] }
      }
      expect(JSON.parse(JSON.stringify((yield* reading(JSON.stringify(policy))).policy))).toEqual(policy)
      expect((yield* reading("{}")).policy).toEqual({})
    })
  )

  it.live("a single unknown key makes the whole policy file invalid", () =>
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
        '{"endpoints": [], "endpoints": []}',
        ...[
          { signIn: { rules: [{ workspaces: [] }] } },
          { signIn: { rules: [{ emailDomains: ["Acme.example"] }] } },
          { signIn: { rules: [{ groups: ["staff"], workspaces: [{ workspaceId: "acme", role: "viewer" }] }] } },
          { signIn: { rules: [{ groups: [] }] } },
          { profiles: { "opentofu-default": {} } },
          { profiles: { strict: { isolation: "process" } } },
          { profiles: { strict: { network: "host" } } },
          { profiles: { strict: { limits: { memory: 1024 } } } },
          { profiles: { strict: { tool: { version: ">= 1.0" } } } },
          { baseConfigs: [{ origin, profile: "strict" }] },
          { baseConfigs: [{ origin, variables: { token: `ghp_${"a1B2".repeat(9)}` } }] },
          { baseConfigs: [{ origin }, { origin: `${origin}/` }] },
          { baseConfigs: [{ origin, isolation: "off" }] },
          { gitAllowOrigins: [origin] }
        ].map((policy) => JSON.stringify(policy))
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

describe("OAuth helpers", () => {
  const documented = Effect.promise(() =>
    readFile(new URL("../../../docs/oauth-helpers.md", import.meta.url), "utf8")
  ).pipe(Effect.map((text) => /```json\n([\s\S]*?)```/.exec(text)?.[1] ?? ""))
  const environment = ConfigProvider.layer(
    ConfigProvider.fromEnvRecord({ ACME_CLIENT_SECRET: "of-the-cloud", FORGE_CLIENT_SECRET: "of-the-forge" })
  )
  const declared = (text: string, given = environment) =>
    Effect.gen(function* () {
      const { oauthHelpers: declarations = [] } = (yield* reading(text)).policy
      const layer = yield* oauthHelpers(declarations, []).pipe(Effect.provide(NodeServices.layer))
      return yield* Effect.flatMap(OAuthHelpers, Effect.succeed).pipe(Effect.provide(layer))
    }).pipe(Effect.provide(given))

  it.live("OAuth helpers in the policy file are declared as documented, with the secret stored elsewhere", () =>
    Effect.gen(function* () {
      const helpers = yield* declared(yield* documented)
      expect(helpers.map(({ helper }) => helper)).toMatchObject([
        { id: "acme-cloud", kind: "provider", authMode: "env", valueNames: ["ACME_REGION", "ACME_TOKEN"] },
        { id: "forge", kind: "git_https", authMode: "token", origins: ["https://git.example.com/team/"] }
      ])
      expect(helpers.map(({ server }) => server.pkce)).toEqual(["advertised", "advertised"])
      expect(JSON.stringify(helpers)).not.toContain("of-the-")
    })
  )

  it.live("startup rejects OAuth helpers that could not work", () =>
    Effect.gen(function* () {
      const text = yield* documented
      const changed = (from: string, to: string) => declared(text.replace(from, to))
      const refusals = [
        changed('"ACME_TOKEN"', '"PATH"'),
        changed('"issuer": "https://id', '"issuer": "http://id'),
        changed('"audience"', '"state"'),
        changed('"id": "forge"', '"id": "acme-cloud"'),
        changed('"origins": ["https://git.example.com/team/"]', '"values": {}'),
        changed('"secretEnv": "ACME_CLIENT_SECRET"', '"secret": "hunter2"'),
        changed('"secretEnv": "ACME_CLIENT_SECRET"', '"secretFile": "/nowhere/secret"'),
        declared(text, ConfigProvider.layer(ConfigProvider.fromEnvRecord({})))
      ]
      for (const refusal of refusals) {
        const refused = yield* Effect.flip(refusal)
        const message = refused._tag === "SettingsRefused" ? refused.message : ""
        expect(message).toContain("policy file")
        expect(message).not.toContain("hunter2")
      }
    })
  )
})
