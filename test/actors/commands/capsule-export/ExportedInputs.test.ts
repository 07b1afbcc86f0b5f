import { expect, test } from "bun:test"
import { Redacted } from "effect"
import { exportedInputs } from "../../../../actors/commands/capsule-export/ExportedInputs.ts"
import type { RunVariable } from "../../../../runner/execution/RunJob.ts"
import type { DeclaredVariable } from "../../../../schema/records/InstallConfig.ts"

const declared = (name: string, more: Partial<DeclaredVariable> = {}): DeclaredVariable => ({
  name,
  type: "string",
  required: false,
  hasDefault: true,
  sensitive: false,
  ephemeral: false,
  origin: "user",
  set: true,
  ...more
})
const given = (value: string, sensitive = false): RunVariable => ({ value: Redacted.make(value), sensitive })

const of = (
  variable: DeclaredVariable,
  from: { readonly given?: RunVariable; readonly delivered?: RunVariable }
): unknown => {
  const { toSupply, values } = exportedInputs([variable], {
    given: from.given === undefined ? {} : { it: from.given },
    delivered: from.delivered === undefined ? {} : { it: from.delivered }
  })
  const value = values["it"]?.value
  return toSupply[0]?.reason ?? (value === undefined ? undefined : Redacted.value(value))
}

test("an input value is exported unless it is marked as secret", () => {
  expect(of(declared("it"), { given: given("plain") })).toBe("plain")
  expect(of(declared("it"), { delivered: given("https://app.example.test") })).toBe("https://app.example.test")
  expect(of(declared("it"), { given: given("a"), delivered: given("b") })).toBe("b")
  expect(of(declared("it", { sensitive: true }), { given: given("secret") })).toBe("secret")
  expect(of(declared("it", { ephemeral: true }), { given: given("short-lived") })).toBe("secret")
  expect(of(declared("it"), { given: given("an Output", true) })).toBe("secret")
  expect(of(declared("it"), { delivered: given("made here", true) })).toBe("generated")
})

test("an export lists a missing input to supply only if the module requires it", () => {
  expect(of(declared("it"), {})).toBeUndefined()
  expect(of(declared("it", { required: true }), {})).toBe("missing")
  expect(exportedInputs([declared("constructor")], { given: {}, delivered: {} })).toEqual({ values: {}, toSupply: [] })
})
