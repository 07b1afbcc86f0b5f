import { describe, expect, test } from "bun:test"
import type { Schema } from "effect"
import {
  diagnosticsOf,
  endpoint,
  feature,
  iface,
  interfaceSpec,
  type JsonObject,
  manifest,
  sourceBuild,
  userInput,
  verdict
} from "./ManifestFixture.ts"

const at = "/install/modules/."
const module = (fields: JsonObject) => manifest("svc.com/v2.4", fields)
const document = (value: Schema.Json) => module({ interfaces: [iface({ spec: interfaceSpec({ document: value }) })] })
const literal = (value: Schema.Json) =>
  module({ interfaces: [iface({ spec: interfaceSpec({ inputs: { a: { source: "literal", value } } }) })] })
const argv = (...parts: ReadonlyArray<string>) => module({ sourceBuild: sourceBuild({ commands: [{ argv: parts }] }) })
const key = "ghp_0123456789abcdefABCD"

test.each<readonly [string, JsonObject, string]>([
  ["label", module({ inputs: [userInput("a", { label: { ja: key, en: "a" } })] }), "/inputs/0/label/ja"],
  [
    "helper",
    module({ inputs: [userInput("a", { helper: { ja: "a", en: `Use password=${key}` } })] }),
    "/inputs/0/helper/en"
  ],
  [
    "placeholder",
    module({ inputs: [userInput("a", { placeholder: "https://user:pass@example.com" })] }),
    "/inputs/0/placeholder"
  ],
  ["format", module({ inputs: [userInput("a", { format: "AKIAIOSFODNN7EXAMPLE" })] }), "/inputs/0/format"],
  [
    "feature label",
    module({ inputs: [userInput("a")], features: [feature("f", ["a"], { label: { ja: "a", en: key } })] }),
    "/features/0/label/en"
  ],
  ["Interface document", document({ a: [{ b: key }] }), "/interfaces/0/spec/document/a/0/b"],
  ["literal", literal(["x", key]), "/interfaces/0/spec/inputs/a/value/1"],
  ["argument", argv("sh", "-c", `curl -H 'Authorization: Bearer ${key}'`), "/sourceBuild/commands/0/argv/2"],
  ["arguments that are one only together", argv("deploy", "--password", "hunter2"), "/sourceBuild/commands/0/argv"]
])("a credential in a %s is found and not repeated (J7)", (_, broken, path) => {
  const diagnostics = diagnosticsOf(broken)
  expect(diagnostics.map((diagnostic) => [diagnostic.code, diagnostic.path])).toEqual([
    ["secret_material", `${at}${path}`]
  ])
  expect(JSON.stringify(diagnostics)).not.toMatch(/ghp_|hunter2|AKIA|user:pass/)
})

test("public material may not use a credential as a key, and the reported path hides the credential", () => {
  const diagnostics = diagnosticsOf(document({ [key]: 1 }))
  expect(diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
    `secret_material ${at}/interfaces/0/spec/document/*`
  ])
})

test("a credential in an invalid structure is reported together with the structure, but without its value", () => {
  const diagnostics = diagnosticsOf({ ...module({}), [key]: key, note: `token=${key}` })
  expect(diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
    "unknown_field /*",
    "unknown_field /note",
    "secret_material /*",
    "secret_material /*",
    "secret_material /note"
  ])
  expect(JSON.stringify(diagnostics)).not.toContain("ghp_")
})

test("public material may not contain ids of host records", () => {
  expect(verdict(document({ a: "cap_0123456789abcdef0123" }))).toBe(
    `host_authority_material ${at}/interfaces/0/spec/document/a`
  )
})

describe("Interface names", () => {
  test.each([
    "credentialId",
    "credential_ref",
    "password",
    "api-key",
    "clientSecret",
    "ACCESS_TOKEN",
    "privateKey",
    "Authorization"
  ])("the name %s indicates that its value is a credential", (name) => {
    const path = `${at}/interfaces/0/spec/document/a/0/${name}`
    expect(verdict(document({ a: [{ [name]: "x" }] }))).toBe(`secret_material ${path}`)
  })
  test.each(["workspaceId", "capsule_id", "accountId", "connection-id", "resourceId", "policyRef", "principalId"])(
    "the name %s is an authority of the host",
    (name) => {
      expect(verdict(literal({ [name]: "x" }))).toBe(
        `host_authority_material ${at}/interfaces/0/spec/inputs/a/value/${name}`
      )
    }
  )
  test("an Interface input whose name looks like a credential is rejected", () => {
    const spec = interfaceSpec({ inputs: { accessToken: { source: "literal", value: "x" } } })
    expect(verdict(module({ interfaces: [iface({ spec })] }))).toBe(
      `secret_material ${at}/interfaces/0/spec/inputs/accessToken`
    )
  })
  test.each([
    "tokenUrl",
    "authorizationUrl",
    "scopes",
    "maxTokens",
    "nextPageToken",
    "keyboard",
    "capsule",
    "title",
    "secretary"
  ])("%s is an ordinary name", (name) => {
    expect(verdict(document({ [name]: "x" }))).toBe("valid")
  })
})

test("public material may contain prose that mentions credentials", () => {
  const helper = {
    ja: "管理画面でトークンを作成し、ここに貼り付けてください。",
    en: "Create a token in the settings, then paste the token here. The password: at least 12 characters."
  }
  expect(
    verdict(module({ inputs: [userInput("a", { helper, placeholder: "your API token" })], requires: [endpoint()] }))
  ).toBe("valid")
})

test("public material may contain arguments that only refer to a credential", () => {
  expect(verdict(argv("docker", "build", "--build-arg", "TOKEN=$TOKEN", "--password-stdin"))).toBe("valid")
})
