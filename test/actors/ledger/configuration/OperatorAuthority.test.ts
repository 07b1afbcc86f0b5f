import { expect, test } from "bun:test"
import { baseMoved, operatorMoved } from "../../../../actors/ledger/configuration/OperatorAuthority.ts"
import { operatorFindings } from "../../../../actors/ledger/configuration/InstallConfigCompilation.ts"
import {
  digestOfBase,
  type OperatorConfigsShape,
  profileOf
} from "../../../../actors/ledger/configuration/OperatorConfigs.ts"
import { GivenCredentialOrigin } from "../../../../schema/records/CredentialOrigin.ts"
import { declared } from "../../support/DeclaredVariables.ts"

const base = { origin: GivenCredentialOrigin.make("https://git.example.com"), variables: { region: "eu" } }
const operator: OperatorConfigsShape = {
  profiles: { narrow: { network: "isolated" } },
  baseConfigs: [base],
  loadedAt: "2026-01-01T00:00:00.000Z"
}
const nothing: OperatorConfigsShape = { ...operator, profiles: {}, baseConfigs: [] }
const snapshot = { url: "https://git.example.com/team/app", path: "." }
const compiled = {
  operator: { digest: digestOfBase(base), profile: "narrow", variables: ["region"], interfaceKeys: [] }
}
const narrow = { profile: "narrow", profile_digest: profileOf(operator, "narrow")?.digest ?? "" }

test("a configuration remains valid while its module's base configuration is unchanged", () => {
  expect(baseMoved(operator, compiled, snapshot, ".")).toBe(false)
  expect(baseMoved(nothing, {}, snapshot, ".")).toBe(false)
  expect(baseMoved(nothing, compiled, snapshot, ".")).toBe(true)
  expect(baseMoved(operator, {}, snapshot, ".")).toBe(true)
  const other = { ...operator, baseConfigs: [{ ...base, variables: { region: "us" } }] }
  expect(baseMoved(other, compiled, snapshot, ".")).toBe(true)
  expect(baseMoved(operator, compiled, { ...snapshot, url: "https://other.example.com/team/app" }, ".")).toBe(true)
})

test("a plan remains valid while its execution profile is unchanged", () => {
  expect(operatorMoved(operator, narrow, compiled, snapshot, ".")).toBeUndefined()
  const wider: OperatorConfigsShape = { ...operator, profiles: { narrow: {} } }
  expect(operatorMoved(wider, narrow, compiled, snapshot, ".")).toContain("execution profile narrow")
  expect(operatorMoved({ ...operator, profiles: {} }, narrow, compiled, snapshot, ".")).toContain("narrow")
  expect(operatorMoved(operator, { ...narrow, profile_digest: null }, compiled, snapshot, ".")).toContain("narrow")
  expect(operatorMoved(nothing, narrow, compiled, snapshot, ".")).toContain("base configuration")
})

test("a plan from a release without execution profiles is treated as planned with the default profile", () => {
  const old = { profile: null, profile_digest: null }
  expect(operatorMoved(nothing, old, {}, snapshot, ".")).toBeUndefined()
  expect(operatorMoved(operator, old, compiled, snapshot, ".")).toContain("execution profile narrow")
})

test("svc rejects an operator value of the wrong type, and warns about an undeclared input if the operator setting is for a specific module", () => {
  expect(operatorFindings(undefined, [])).toEqual([])
  expect(operatorFindings(base, [declared("region")])).toEqual([])
  expect(operatorFindings(base, [])).toEqual([])
  const wrong = operatorFindings(base, [declared("region", "number")])
  expect(wrong.map(({ code, severity }) => [severity, code])).toEqual([["error", "operator_variable_type"]])
  const unknown = operatorFindings({ ...base, module: "." }, [declared("zone")])
  expect(unknown.map(({ code, severity }) => [severity, code])).toEqual([["warning", "operator_variable_unknown"]])
})
