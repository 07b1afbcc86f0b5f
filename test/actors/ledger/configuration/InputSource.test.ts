import { expect, test } from "bun:test"
import { inputSource } from "../../../../actors/ledger/configuration/InputSource.ts"
import { declared } from "../../support/DeclaredVariables.ts"

const all = new Set(["region"])
const none = new Set<string>()
const givers = { dependencies: none, values: none, connections: none }

test("an input takes its value from the operator, a dependency, a person, the service, a Connection or the module, in that order", () => {
  const everybody = { dependencies: all, values: all, connections: all }
  expect(inputSource(declared("region", "string", "operator"), everybody)).toBe("value")
  expect(inputSource(declared("region"), everybody)).toBe("dependency")
  expect(inputSource(declared("region"), { ...everybody, dependencies: none })).toBe("value")
  for (const origin of ["capsule_name", "workspace_scoped_capsule_name"] as const) {
    expect(inputSource(declared("region", "string", origin), { ...givers, connections: all })).toBe(origin)
    expect(inputSource(declared("region", "string", origin), everybody)).toBe("dependency")
  }
  expect(inputSource(declared("region"), { ...givers, connections: all })).toBe("connection")
  expect(inputSource({ ...declared("region"), required: false }, givers)).toBe("module")
})

test("a required input without any source is reported as missing", () => {
  expect(inputSource(declared("region"), givers)).toBe("missing")
})
