import { describe, expect, test } from "bun:test"
import type { OutputFacts } from "../../../schema/manifest/ModuleFacts.ts"
import { emptyBaseConfig, type OperatorPolicy } from "../../../schema/manifest/OperatorPolicy.ts"
import { variable, output, compile, told, openPolicy } from "./CompilationFixture.ts"
import {
  bindingRequest,
  iface,
  interfaceSpec,
  secret,
  sourceBuild,
  userInput,
  type JsonObject
} from "./ManifestFixture.ts"

describe("a manifest is rejected if its Interfaces cannot be verified (J11)", () => {
  const spec = interfaceSpec({ inputs: { url: { source: "output", outputName: "url", outputType: "url" } } })
  const at = "interfaces/0/spec/inputs/url/outputName"
  test.each<readonly [string, ReadonlyArray<OutputFacts>, ReadonlyArray<string>]>([
    ["a public Output", [output("url")], []],
    ["no such Output", [output("URL")], [`output_not_found ${at}`]],
    ["a sensitive Output", [output("url", { sensitive: true })], [`output_not_public ${at}`]],
    ["an ephemeral Output", [output("url", { ephemeral: true })], [`output_not_public ${at}`]]
  ])("%s", (_, outputs, expected) => {
    expect(told(compile({ interfaces: [iface({ spec })] }, {}, { outputs }))).toEqual([...expected])
  })

  test("an Output name may contain hyphens", () => {
    const hyphened = interfaceSpec({
      inputs: { url: { source: "output", outputName: "load-balancer-url", outputType: "url" } }
    })
    const compiled = compile(
      { interfaces: [iface({ spec: hyphened })] },
      {},
      { outputs: [output("load-balancer-url")] }
    )
    expect([told(compiled), compiled.outputAllowlist]).toEqual([[], [{ name: "load-balancer-url", type: "url" }]])
  })

  const asking = (permissions: ReadonlyArray<string>, type: string) => ({
    interfaces: [iface({ bindingRequests: [bindingRequest({ permissions: [...permissions], delivery: { type } })] })]
  })
  const where = "interfaces/0/bindingRequests/0/permissions"
  test.each<readonly [string, JsonObject, Partial<OperatorPolicy>, ReadonlyArray<string>]>([
    ["ui.open with none", asking(["ui.open"], "none"), {}, []],
    ["mcp.invoke with oauth2", asking(["mcp.invoke"], "oauth2"), {}, []],
    ["ui.open with oauth2", asking(["ui.open"], "oauth2"), {}, [`permission_not_allowed ${where}/0`]],
    ["one of two", asking(["ui.open", "admin"], "none"), {}, [`permission_not_allowed ${where}/1`]],
    [
      "another permission that the operator allows",
      asking(["mail.send"], "none"),
      { allowedPermissions: [{ permission: "mail.send", delivery: "none" }] },
      []
    ],
    [
      "a default permission that the operator took away",
      asking(["ui.open"], "none"),
      { allowedPermissions: [] },
      [`permission_not_allowed ${where}/0`]
    ]
  ])("%s", (_, module, policy, expected) => {
    expect(told(compile(module, { policy: { ...openPolicy, ...policy } }))).toEqual([...expected])
  })
})

describe("a manifest cannot exceed the operator's Interface declarations", () => {
  const declared = compile(
    {
      interfaces: [
        iface({
          bindingRequests: [bindingRequest()],
          spec: interfaceSpec({ inputs: { url: { source: "output", outputName: "url", outputType: "url" } } })
        })
      ]
    },
    {},
    { outputs: [output("url")] }
  )
  const base = {
    ...emptyBaseConfig,
    variables: ["region"],
    interfaceBlueprints: declared.interfaceBlueprints,
    bindingRequests: declared.bindingRequests,
    outputAllowlist: declared.outputAllowlist
  }
  const facts = { variables: [variable("a"), variable("region")], outputs: [output("url"), output("other")] }
  const withUrl = (more: JsonObject) =>
    iface({
      ...more,
      spec: interfaceSpec({ inputs: { url: { source: "output", outputName: "url", outputType: "url" } } })
    })

  test("equal Interface declarations are merged", () => {
    const compiled = compile({ interfaces: [withUrl({ bindingRequests: [bindingRequest()] })] }, { base }, facts)
    expect(compiled.assistance).toBe("adopted")
    expect(compiled.interfaceBlueprints).toEqual(base.interfaceBlueprints)
    expect(compiled.bindingRequests).toEqual(base.bindingRequests)
    expect(compiled.outputAllowlist).toEqual(base.outputAllowlist)
  })

  test("new Interface keys are added to the operator's keys", () => {
    const compiled = compile({ interfaces: [iface({ key: "api", name: "Api" })] }, { base }, facts)
    expect(compiled.interfaceBlueprints.map(({ key }) => key)).toEqual(["ui", "api"])
  })

  test.each<readonly [string, JsonObject, ReadonlyArray<string>]>([
    ["another document under the same key", { interfaces: [iface()] }, ["operator_declaration_conflict interfaces/0"]],
    [
      "the operator's name under another key",
      { interfaces: [withUrl({ key: "other" })] },
      ["operator_declaration_conflict interfaces/0"]
    ],
    [
      "another binding request",
      { interfaces: [withUrl({ bindingRequests: [bindingRequest({ key: "x" })] })] },
      ["operator_declaration_conflict interfaces/0/bindingRequests/0"]
    ],
    [
      "another public type",
      {
        interfaces: [
          iface({
            key: "b",
            name: "B",
            spec: interfaceSpec({ inputs: { u: { source: "output", outputName: "url", outputType: "string" } } })
          })
        ]
      },
      ["operator_declaration_conflict interfaces/0/spec/inputs/u/outputName"]
    ],
    [
      "an input for the operator's variable",
      { inputs: [userInput("region")] },
      ["operator_declaration_conflict inputs/0/name"]
    ],
    [
      "a delivery to the operator's variable",
      { requires: [secret("region")] },
      ["operator_declaration_conflict requires/0/deliver/variables/value"]
    ]
  ])("%s is rejected, and the operator's declaration remains", (_, module, expected) => {
    const compiled = compile(module, { base }, facts)
    expect(told(compiled)).toEqual([...expected])
    expect(compiled).toMatchObject({
      assistance: "rejected",
      interfaceBlueprints: base.interfaceBlueprints,
      outputAllowlist: base.outputAllowlist
    })
  })

  test("people are never asked for variables that the operator sets", () => {
    expect(compile({}, { base }, facts).inputs.map(({ name }) => name)).toEqual(["a"])
  })

  test("the operator's sourceBuild takes precedence, even without a manifest", () => {
    const operators = { commands: [{ argv: ["make"] }], outputs: ["out"] }
    const withBuild = { ...emptyBaseConfig, sourceBuild: operators }
    expect(compile({ sourceBuild: sourceBuild() }, { base: withBuild }).sourceBuild).toEqual({
      origin: "operator",
      proposal: operators
    })
    expect(compile({ inputs: [userInput("missing")] }, { base: withBuild }).sourceBuild).toEqual({
      origin: "operator",
      proposal: operators
    })
    expect(compile({ sourceBuild: sourceBuild() }).sourceBuild?.origin).toBe("repository")
  })
})
