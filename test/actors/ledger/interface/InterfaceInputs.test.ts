import { describe, expect, test } from "bun:test"
import { Result, type Schema } from "effect"
import { resolveInputs } from "../../../../actors/ledger/interface/InterfaceInputs.ts"
import type { InterfaceBlueprint } from "../../../../schema/manifest/CompiledInstall.ts"
import type { OutputType } from "../../../../schema/manifest/InterfaceDeclaration.ts"

const blueprint = (inputs: InterfaceBlueprint["spec"]["inputs"], resourceUriInput?: string): InterfaceBlueprint => ({
  key: "k",
  name: "Name",
  spec: {
    type: "t",
    version: "1",
    document: {},
    ...(inputs === undefined ? {} : { inputs }),
    access: { visibility: "workspace", ...(resourceUriInput === undefined ? {} : { resourceUriInput }) }
  }
})

const told = (made: InterfaceBlueprint, value: Schema.Json | undefined, present = true) =>
  Result.match(resolveInputs(made, new Map(present ? [["out", { name: "out", value }]] : [])), {
    onSuccess: (inputs) => inputs,
    onFailure: ({ code }) => code
  })

const typed = (outputType: OutputType) => blueprint({ address: { source: "output", outputName: "out", outputType } })

describe("Interface inputs", () => {
  test.each([
    ["string", "a", true],
    ["string", 1, false],
    ["number", 1, true],
    ["number", "1", false],
    ["boolean", false, true],
    ["boolean", "false", false],
    ["json", { a: [1] }, true],
    ["url", "https://a.example.com/x?y=1", true],
    ["url", "http://10.0.0.1:8080", true],
    ["url", "javascript:alert(1)", false],
    ["url", "data:text/html,x", false],
    ["url", "//a.example.com", false],
    ["url", "https://user:pass@a.example.com", false],
    ["hostname", "a.example.com", true],
    ["hostname", "https://a.example.com", false],
    ["hostname", "-a.example.com", false],
    ["hostname", `${"a".repeat(64)}.example.com`, false]
  ] as const)("an Interface address of the type %s with the value %j is accepted: %p", (type, value, accepted) => {
    expect(told(typed(type), value)).toEqual(accepted ? { address: value } : "output_type_mismatch")
  })

  test("an Output that repeats a secret is private, and the Interface reports the reason", () => {
    const privacy = "The Output out is private: it repeats var.db.password."
    const result = resolveInputs(typed("string"), new Map([["out", { name: "out", value: undefined, privacy }]]))
    expect(Result.isFailure(result) ? result.failure.message : "").toContain(privacy)
  })

  test("an unset or sensitive Output is private", () => {
    expect(told(typed("string"), "a", false)).toBe("output_missing")
    expect(told(typed("string"), undefined)).toBe("output_not_public")
  })

  test("an Interface passes literal inputs through unchanged", () => {
    expect(told(blueprint({ a: { source: "literal", value: { b: null } } }), undefined)).toEqual({ a: { b: null } })
  })

  test("an Interface's resource must be a web address", () => {
    const named = (value: string) => blueprint({ at: { source: "literal", value } }, "at")
    expect(told(named("https://a.example.com"), undefined)).toEqual({ at: "https://a.example.com" })
    expect(told(named("file:///etc"), undefined)).toBe("resource_uri_invalid")
    expect(told(blueprint({}, "at"), undefined)).toBe("resource_uri_invalid")
  })

  test("an Interface's inputs are limited to 64 KiB", () => {
    const around = JSON.stringify({ address: "" }).length
    expect(told(typed("string"), "a".repeat(65_536 - around))).toBeObject()
    expect(told(typed("string"), "a".repeat(65_537 - around))).toBe("inputs_too_large")
  })
})
