import { describe, expect, test } from "bun:test"
import { defaultOperatorPolicy, type OperatorPolicy } from "../../../schema/manifest/OperatorPolicy.ts"
import { compile, declare, env, openPolicy, pins, request, told, variable, variables } from "./CompilationFixture.ts"
import { compileInstallConfig } from "../../../schema/manifest/InstallConfigCompiler.ts"
import { ManifestVersion } from "../../../schema/manifest/RepositoryManifest.ts"
import {
  consume,
  endpoint,
  manifest,
  oidc,
  oidcTargets,
  secret,
  userInput,
  type JsonObject
} from "./ManifestFixture.ts"

describe("a manifest is rejected if its requirements cannot be verified (J11)", () => {
  const identityFacts = variables(
    ...["public_url", "accounts_url", "issuer_url", "client_id", "redirect_uri"].map((name) => variable(name)),
    env
  )
  const bound = oidc({
    deliver: {
      bindings: {
        accountsUrl: "ACCOUNTS_URL",
        issuerUrl: "ISSUER_URL",
        clientId: "CLIENT_ID",
        redirectUri: "REDIRECT_URI"
      }
    }
  })
  const binding = (name: string) => secret("x", { deliver: { bindings: { value: name } } })

  test.each<readonly [string, ReadonlyArray<JsonObject>, Partial<OperatorPolicy>, ReadonlyArray<string>]>([
    ["an absent variable", [secret("missing")], {}, ["variable_not_found requires/0/deliver/variables/value"]],
    [
      "a variable that is not a string",
      [secret("env")],
      {},
      ["variable_type_not_proven requires/0/deliver/variables/value"]
    ],
    [
      "a kind outside the policy",
      [secret("client_id")],
      { allowedRequirementKinds: ["http.endpoint"] },
      ["requirement_kind_not_allowed requires/0"]
    ],
    ["a binding", [binding("SESSION_KEY")], {}, []],
    ...[
      "PATH",
      "TF_LOG",
      "tf_var_x",
      "LD_PRELOAD",
      "HTTPS_PROXY",
      "SVC_MASTER_KEY",
      "GIT_SSH_COMMAND",
      "NODE_OPTIONS"
    ].map(
      (name) =>
        [
          `the reserved binding ${name}`,
          [binding(name)],
          {},
          ["reserved_binding requires/0/deliver/bindings/value"]
        ] as const
    ),
    ["an identity", [endpoint(), oidc()], {}, []],
    [
      "an identity without a scope allowlist",
      [endpoint(), oidc()],
      { allowedOidcScopes: [] },
      ["oidc_not_allowed requires/1"]
    ],
    [
      "a scope outside the allowlist",
      [endpoint(), oidc()],
      { allowedOidcScopes: ["openid"] },
      ["oidc_scope_not_allowed requires/1/scopes/1"]
    ],
    ["a callback inside the allowlist", [endpoint(), oidc()], { allowedOidcCallbackPaths: ["/auth/callback"] }, []],
    [
      "a callback outside the allowlist",
      [endpoint(), oidc()],
      { allowedOidcCallbackPaths: ["/other"] },
      ["oidc_callback_not_allowed requires/1/callbackPath"]
    ],
    ["runtime OIDC bindings that the operator allows", [endpoint(), bound], { runtimeOidcBindings: true }, []],
    [
      "runtime OIDC bindings that it does not",
      [endpoint(), bound],
      {},
      ["oidc_bindings_not_allowed requires/1/deliver/bindings"]
    ],
    ["consume with a permission of the default policy", [consume()], {}, []],
    [
      "consume with another delivery",
      [consume({ delivery: { type: "none" } })],
      {},
      ["permission_not_allowed requires/0/permissions/0"]
    ]
  ])("%s", (_, requires, policy, expected) => {
    expect(told(compile({ requires: [...requires] }, { policy: { ...openPolicy, ...policy } }, identityFacts))).toEqual(
      [...expected]
    )
  })

  const threeTargets = { accountsUrl: "accounts_url", issuerUrl: "issuer_url", clientId: "client_id" }
  const delivering = (deliver: JsonObject) => [endpoint(), oidc({ deliver })]
  const slots = "oidc_requires_four_slots requires/1/deliver"
  const noUrl = "oidc_requires_endpoint_url requires/1"

  test.each<readonly [string, ReadonlyArray<JsonObject>, ReadonlyArray<string>]>([
    ["three slots", delivering({ variables: threeTargets }), [slots]],
    ["a fifth slot", delivering({ variables: { ...oidcTargets, ownerSubject: "owner" } }), [slots]],
    [
      "ownerSubject in the place of another",
      delivering({ variables: { ...threeTargets, ownerSubject: "redirect_uri" } }),
      [slots]
    ],
    [
      "an endpoint that delivers no url",
      [{ kind: "http.endpoint", deliver: { variables: { subdomain: "public_url" } } }, oidc()],
      [noUrl]
    ],
    [
      "an endpoint that delivers url to a binding",
      [{ kind: "http.endpoint", deliver: { bindings: { url: "PUBLIC_URL" } } }, oidc()],
      [noUrl]
    ]
  ])("%s refuses only its own module", (_, requires, expected) => {
    const facts = variables(...identityFacts.variables, variable("owner"))
    const refused = compile({ requires: [...requires], inputs: [userInput("owner")] }, {}, facts)
    expect(told(refused)).toEqual(expect.arrayContaining([...expected]))
    expect([refused.assistance, refused.dropped?.at(-1)]).toEqual(["rejected", "requirement identity.oidc"])
    // A second module in the same document, which must not be affected.
    const modules = { ".": { inputs: [], requires: [...requires] }, beside: { inputs: [userInput("owner")] } }
    const document = { apiVersion: "svc.com/v2.4", kind: "Repository", install: { modules } }
    const neighbour = { ...pins, modulePath: "beside" }
    const kept = compile(
      {},
      { declaration: declare(document), manifestKey: "beside", pins: neighbour },
      { ...facts, pins: neighbour }
    )
    expect([kept.assistance, told(kept)]).toEqual(["adopted", []])
  })

  test("runtime OIDC bindings require v2.4", () => {
    const compiled = ManifestVersion.literals.map((version) => {
      const policy = { ...openPolicy, runtimeOidcBindings: true }
      const declaration = declare(manifest(version, { requires: [endpoint(), bound] }))
      const made = compileInstallConfig(request({}, { declaration, policy }, identityFacts))
      return made._tag === "Success" ? told(made.success).join() : made._tag
    })
    expect(compiled).toEqual([
      ...Array.from({ length: 5 }, () => "oidc_bindings_need_v2_4 requires/1/deliver/bindings"),
      ""
    ])
  })

  test("an identity is not granted without a scope allowlist", () => {
    expect(told(compile({ requires: [endpoint(), oidc()] }, { policy: defaultOperatorPolicy }, identityFacts))).toEqual(
      ["oidc_not_allowed requires/1"]
    )
  })

  test("runtime OIDC bindings are delivered as entries of env", () => {
    const compiled = compile(
      { requires: [endpoint(), bound] },
      { policy: { ...openPolicy, runtimeOidcBindings: true } },
      identityFacts
    )
    expect(compiled.requires[1]).toMatchObject({
      endpointVariable: "public_url",
      deliveries: [
        { slot: "accountsUrl", lane: "binding", name: "ACCOUNTS_URL" },
        { slot: "issuerUrl", lane: "binding", name: "ISSUER_URL" },
        { slot: "clientId", lane: "binding", name: "CLIENT_ID" },
        { slot: "redirectUri", lane: "binding", name: "REDIRECT_URI" }
      ]
    })
    expect(compiled.inputs.map(({ name }) => name)).not.toContain("env")
  })

  test("a binding requires a variable named env that is a map of strings", () => {
    expect(told(compile({ requires: [binding("A")] }))).toEqual([
      "binding_environment_not_found requires/0/deliver/bindings/value"
    ])
    for (const other of [variable("env"), variable("env", { type: "json" }), { ...env, mapOfStrings: false }]) {
      expect(told(compile({ requires: [binding("A")] }, {}, variables(other)))).toEqual([
        "binding_environment_not_found requires/0/deliver/bindings/value"
      ])
    }
  })

  test("an input and a requirement cannot share a variable", () => {
    expect(
      told(compile({ inputs: [userInput("client_id")], requires: [secret("client_id")] }, {}, identityFacts))
    ).toEqual(["variable_claimed_twice inputs/0/name"])
    expect(told(compile({ inputs: [userInput("env")], requires: [binding("A")] }, {}, identityFacts))).toEqual([
      "variable_claimed_twice inputs/0/name"
    ])
  })

  test("people are not asked for values that a requirement delivers", () => {
    expect(compile({ requires: [secret("client_id")] }, {}, variables(variable("client_id"))).inputs).toEqual([])
  })
})
