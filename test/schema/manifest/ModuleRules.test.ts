import { describe, expect, test } from "bun:test"
import {
  consume,
  endpoint,
  feature,
  iface,
  interfaceSpec,
  type JsonObject,
  manifest,
  oidc,
  oidcTargets,
  secret,
  userInput,
  verdict
} from "./ManifestFixture.ts"

const at = "/install/modules/."
const module = (fields: JsonObject) => manifest("svc.com/v2.4", fields)
const inputs = (...entries: ReadonlyArray<JsonObject>) => module({ inputs: entries })
const requires = (...entries: ReadonlyArray<JsonObject>) => module({ requires: entries })
const from = (kind: string, more: JsonObject = {}) => userInput("a", { source: { kind }, ...more })
const output = (outputName: string, outputType: string) => ({ source: "output", outputName, outputType })
const withInputs = (key: string, more: JsonObject) => iface({ key, name: key, spec: interfaceSpec(more) })
const secrets = (count: number) => Array.from({ length: count }, (_, index) => secret(`s${index}`))
const targets = (more: JsonObject) => oidc({ deliver: { variables: { ...oidcTargets, ...more } } })

test.each<readonly [string, JsonObject, string]>([
  ["a secret user input", inputs(from("user", { secret: true })), "valid"],
  [
    "a secret capsule_name input",
    inputs(from("capsule_name", { secret: true })),
    `secret_requires_user_source ${at}/inputs/0/secret`
  ],
  ["secret: false of another source", inputs(from("capsule_name", { secret: false })), "valid"],
  [
    "a required module default",
    inputs(from("module_default", { required: true })),
    `default_forbids_required ${at}/inputs/0/required`
  ],
  ["a module default that is not required", inputs(from("module_default", { required: false })), "valid"],
  ["env as an ordinary input", inputs(userInput("env", { type: "json" })), "valid"],
  ["env as a secret", inputs(userInput("env", { secret: true })), `env_cannot_be_secret ${at}/inputs/0/secret`],
  [
    "env as the initial secret",
    inputs(userInput("env", { role: "initial_secret" })),
    `env_cannot_be_secret ${at}/inputs/0/role`
  ],
  ["env as the service name", inputs(userInput("env", { role: "service_name" })), "valid"],
  ["a name twice", inputs(userInput("a"), userInput("b"), userInput("a")), `duplicate_name ${at}/inputs/2/name`],
  ["names that differ in case", inputs(userInput("a"), userInput("A")), "valid"],
  [
    "a role twice",
    inputs(userInput("a", { role: "service_name" }), userInput("b"), userInput("c", { role: "service_name" })),
    `duplicate_role ${at}/inputs/2/role`
  ],
  ["8 generated secrets", requires(...secrets(8)), "valid"],
  ["9 generated secrets", requires(...secrets(9)), `too_many_generated_secrets ${at}/requires/8`],
  ["two endpoints", requires(endpoint("a"), endpoint("b")), `duplicate_requirement ${at}/requires/1/kind`],
  [
    "two identities",
    requires(
      endpoint(),
      oidc(),
      oidc({ deliver: { variables: { accountsUrl: "e", issuerUrl: "f", clientId: "g", redirectUri: "h" } } })
    ),
    `duplicate_requirement ${at}/requires/2/kind`
  ],
  [
    "a delivery target twice",
    requires(secret("a"), secret("a")),
    `duplicate_delivery ${at}/requires/1/deliver/variables/value`
  ],
  [
    "a delivery target in both lanes",
    requires(secret("a"), secret("b", { deliver: { bindings: { value: "a" } } })),
    `duplicate_delivery ${at}/requires/1/deliver/bindings/value`
  ],
  [
    "a delivery target twice in one requirement",
    requires({ kind: "http.endpoint", deliver: { variables: { url: "a", subdomain: "a" } } }),
    `duplicate_delivery ${at}/requires/0/deliver/variables/subdomain`
  ],
  ["a prototype name as target (J4)", requires(secret("constructor"), secret("toString")), "valid"],
  [
    "two modules may claim the same target",
    manifest(
      "svc.com/v2.4",
      {},
      { modules: { a: { inputs: [], requires: [secret("x")] }, b: { inputs: [], requires: [secret("x")] } } }
    ),
    "valid"
  ],
  ["a consume key twice", requires(consume(), secret("a"), consume()), `duplicate_key ${at}/requires/2/key`],
  ["an identity with its endpoint", requires(oidc(), endpoint()), "valid"],
  ["an identity alone", requires(oidc()), `oidc_requires_endpoint ${at}/requires/0`],
  [
    "an endpoint url in a variable of the identity",
    requires(endpoint("client_id"), oidc()),
    `duplicate_delivery ${at}/requires/1/deliver/variables/clientId`
  ],
  [
    "scopes without openid",
    requires(endpoint(), oidc({ scopes: ["profile"] })),
    `oidc_requires_openid ${at}/requires/1/scopes`
  ],
  ["slots that no version grants", requires(endpoint(), targets({ ownerSubject: "owner" })), "valid"],
  [
    "a feature id twice",
    module({ inputs: [userInput("a"), userInput("b")], features: [feature("f", ["a"]), feature("f", ["b"])] }),
    `duplicate_feature ${at}/features/1/id`
  ],
  [
    "a feature of an unknown input",
    module({ features: [feature("f", ["a"])] }),
    `feature_input_not_user ${at}/features/0/inputs/0`
  ],
  [
    "a feature of a prototype name (J4)",
    module({ features: [feature("f", ["constructor"])] }),
    `feature_input_not_user ${at}/features/0/inputs/0`
  ],
  [
    "a feature of an input that is not the user's",
    module({ inputs: [from("capsule_name")], features: [feature("f", ["a"])] }),
    `feature_input_not_user ${at}/features/0/inputs/0`
  ],
  [
    "an input in two features",
    module({ inputs: [userInput("a"), userInput("b")], features: [feature("f", ["a"]), feature("g", ["b", "a"])] }),
    `feature_input_claimed ${at}/features/1/inputs/1`
  ],
  [
    "an Interface key twice",
    module({ interfaces: [iface(), iface({ name: "Other" })] }),
    `duplicate_key ${at}/interfaces/1/key`
  ],
  [
    "an Interface name twice",
    module({ interfaces: [iface(), iface({ key: "other" })] }),
    `duplicate_name ${at}/interfaces/1/name`
  ],
  [
    "one Output as one type",
    module({
      interfaces: [
        withInputs("a", { inputs: { x: output("u", "url") } }),
        withInputs("b", { inputs: { x: output("u", "url") } })
      ]
    }),
    "valid"
  ],
  [
    "one Output as two types",
    module({
      interfaces: [
        withInputs("a", { inputs: { x: output("u", "url") } }),
        withInputs("b", { inputs: { x: output("u", "string") } })
      ]
    }),
    `conflicting_output_type ${at}/interfaces/1/spec/inputs/x/outputType`
  ],
  [
    "a resource input",
    module({
      interfaces: [
        withInputs("a", {
          inputs: { x: output("u", "url") },
          access: { visibility: "workspace", resourceUriInput: "x" }
        })
      ]
    }),
    "valid"
  ],
  [
    "an unknown resource input",
    module({
      interfaces: [
        withInputs("a", {
          inputs: { x: output("u", "url") },
          access: { visibility: "workspace", resourceUriInput: "y" }
        })
      ]
    }),
    `unknown_resource_input ${at}/interfaces/0/spec/access/resourceUriInput`
  ],
  [
    "a resource input by prototype name (J4)",
    module({ interfaces: [withInputs("a", { access: { visibility: "workspace", resourceUriInput: "constructor" } })] }),
    `unknown_resource_input ${at}/interfaces/0/spec/access/resourceUriInput`
  ]
])("%s", (_, document, expected) => {
  expect(verdict(document)).toBe(expected)
})

describe("several faults", () => {
  test("the manifest parser reports every broken module rule", () => {
    expect(
      verdict(
        module({
          inputs: [userInput("a"), userInput("a", { secret: true, source: { kind: "capsule_name" } })],
          features: [feature("f", ["z"])]
        })
      )
    ).toBe(
      `secret_requires_user_source ${at}/inputs/1/secret; duplicate_name ${at}/inputs/1/name; feature_input_not_user ${at}/features/0/inputs/0`
    )
  })
})
