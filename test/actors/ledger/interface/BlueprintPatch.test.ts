import { describe, expect, test } from "bun:test"
import { Result, type Schema } from "effect"
import { patchBlueprints } from "../../../../actors/ledger/interface/BlueprintPatch.ts"
import type { CompiledInstall, InterfaceBlueprint } from "../../../../schema/manifest/CompiledInstall.ts"
import { defaultOperatorPolicy } from "../../../../schema/manifest/OperatorPolicy.ts"

const blueprint = (key: string, inputs: Schema.JsonObject = {}): Schema.JsonObject => ({
  key,
  name: `Name.${key}`,
  spec: { type: "t", version: "1", document: {}, inputs, access: { visibility: "workspace" } }
})

const present: InterfaceBlueprint = {
  key: "present",
  name: "Name.present",
  spec: {
    type: "t",
    version: "1",
    document: {},
    inputs: { a: { source: "output", outputName: "read", outputType: "url" } },
    access: { visibility: "workspace" }
  }
}

const compiled: CompiledInstall = {
  origin: "generic",
  assistance: "absent",
  pins: { sourceSnapshotId: "s", compatibilityReportId: "r", modulePath: "." },
  inputs: [],
  requires: [],
  features: [],
  interfaceBlueprints: [present],
  bindingRequests: [],
  outputAllowlist: [{ name: "open", type: "url" }],
  diagnostics: []
}

const outputs = [
  { name: "open", sensitive: false, ephemeral: false },
  { name: "closed", sensitive: false, ephemeral: false },
  { name: "read", sensitive: false, ephemeral: false },
  { name: "secret", sensitive: true, ephemeral: false },
  { name: "passing", sensitive: false, ephemeral: true }
]

const patched = (...proposed: ReadonlyArray<Schema.Json>) =>
  Result.match(patchBlueprints(compiled, outputs, proposed, defaultOperatorPolicy), {
    onFailure: (message) => message,
    onSuccess: ({ interfaceBlueprints }) => interfaceBlueprints.map(({ key }) => key)
  })

describe("Interface proposals", () => {
  test("a blueprint adds Interfaces to the existing set, and does not add an Interface that equals an existing one", () => {
    const read = { address: { source: "output", outputName: "open", outputType: "url" } }
    const same = { a: { source: "output", outputName: "read", outputType: "url" } }
    expect(patched(blueprint("new", read), blueprint("present", same))).toEqual(["present", "new"])
  })

  test("a blueprint may read Outputs that the operator did not list, and leaves the operator's list unchanged", () => {
    const read = blueprint("new", { a: { source: "output", outputName: "closed", outputType: "url" } })
    const result = patchBlueprints(compiled, outputs, [read], defaultOperatorPolicy)
    expect(Result.getOrThrow(result).outputAllowlist).toEqual(compiled.outputAllowlist)
  })

  test.each([
    ["that differs under the same key", { ...blueprint("present"), name: "Other" }, "differently"],
    ["that differs under the same name", { ...blueprint("other"), name: "Name.present" }, "differently"],
    [
      "of a sensitive Output",
      blueprint("n", { a: { source: "output", outputName: "secret", outputType: "string" } }),
      "neither sensitive nor ephemeral"
    ],
    [
      "of an ephemeral Output",
      blueprint("n", { a: { source: "output", outputName: "passing", outputType: "string" } }),
      "neither sensitive nor ephemeral"
    ],
    [
      "that reads an Output as another type than an existing Interface does",
      blueprint("n", { a: { source: "output", outputName: "read", outputType: "string" } }),
      "differently"
    ],
    [
      "of another type of an Output",
      blueprint("n", { a: { source: "output", outputName: "open", outputType: "json" } }),
      "differently"
    ],
    [
      "of an unknown Output",
      blueprint("n", { a: { source: "output", outputName: "none", outputType: "url" } }),
      "no Output"
    ],
    ["that requests a grant", { ...blueprint("n"), bindingRequests: [] }, "bindingRequests"],
    ["with an unknown field", { ...blueprint("n"), more: 1 }, "more"],
    [
      "with a host-owned policy",
      {
        ...blueprint("n"),
        spec: { type: "t", version: "1", document: {}, access: { visibility: "workspace", policyRef: "p" } }
      },
      "policyRef"
    ],
    ["that is not an object", "text", "xpected"]
  ] as const)("an Interface proposal %s is refused", (_, proposal, reason) => {
    expect(String(patched(proposal))).toContain(reason)
  })

  test("a blueprint's error never repeats the rejected value", () => {
    const leaky = {
      ...blueprint("n"),
      spec: {
        type: "t",
        version: "1",
        document: { note: "password=hunter2hunter2" },
        access: { visibility: "workspace" }
      }
    }
    expect(String(patched(leaky))).not.toContain("hunter2")
    expect(String(patched(leaky))).toContain("document")
  })
})
