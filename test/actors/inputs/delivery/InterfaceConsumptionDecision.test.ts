import { expect, test } from "bun:test"
import { Result } from "effect"
import {
  bindingProblem,
  policyProblem,
  reviewProblem,
  soleInterface,
  unusedBindings
} from "../../../../actors/inputs/delivery/InterfaceConsumptionDecision.ts"
import { InterfaceId } from "../../../../schema/records/Ids.ts"

const requirement = {
  key: "db",
  interface: { type: "postgres", version: "1" },
  permissions: ["read", "write"],
  delivery: { type: "oidc_client" }
} as const
const binding = {
  status: "ready",
  permissions: '["read","write"]',
  delivery_type: "oidc_client"
} as const
const own = InterfaceId.make("ifc_00000000000000000000000001")
const other = InterfaceId.make("ifc_00000000000000000000000002")

test("the operator must allow each permission for the requested kind of delivery", () => {
  const allowed = (permission: string, delivery = "oidc_client") => ({ permission, delivery })
  expect(policyProblem(requirement, [allowed("read"), allowed("write")])).toBeUndefined()
  for (const partial of [[], [allowed("read")], [allowed("read"), allowed("write", "other")]]) {
    expect(policyProblem(requirement, partial)?.code).toBe("interface_permission_not_allowed")
  }
  expect(policyProblem({ ...requirement, permissions: [] }, [])).toBeUndefined()
})

test.each([
  [[], "interface_not_resolved"],
  [["a"], "a"],
  [["a", "b"], "interface_ambiguous"]
] as const)("among the candidates %p the resolved Interface is %s", (matches, expected) => {
  const found = soleInterface(requirement, matches)
  expect(Result.isSuccess(found) ? found.success : found.failure.code).toBe(expected)
})

const bindings = [
  [{}, undefined],
  [{ status: "pending" }, undefined],
  [{ status: "not_ready" }, undefined],
  [{ status: "revoked" }, "interface_binding_revoked"],
  [{ permissions: '["read"]' }, "interface_binding_conflict"],
  [{ delivery_type: "other" }, "interface_binding_conflict"]
] as const

test.each(bindings)("an Interface binding with %p is rejected with %s", (different, code) => {
  expect(bindingProblem({ ...binding, ...different }, requirement)?.code).toBe(code)
})

const reviewed = { pinned: { interfaceId: own }, binding, interfaceId: own, isMember: true }

test.each([
  [{}, undefined],
  [{ pinned: undefined }, "delivery_drift"],
  [{ binding: undefined }, "delivery_drift"],
  [{ interfaceId: other }, "delivery_drift"],
  [{ binding: { ...binding, status: "revoked" as const } }, "interface_binding_revoked"],
  [{ binding: { ...binding, delivery_type: "other" } }, "interface_binding_conflict"],
  [{ isMember: false }, "interface_principal_missing"]
] as const)("an apply with the change %p reports %s", (different, code) => {
  expect(reviewProblem(requirement, { ...reviewed, ...different })?.code).toBe(code)
})

test("an apply disables Interface bindings that its Capsule no longer consumes", () => {
  const row = (request_key: string, interface_id: InterfaceId) => ({ request_key, interface_id })
  const rows = [row("db", own), row("db", other), row("cache", own)]
  expect(unusedBindings(rows, [{ key: "db", interfaceId: own }])).toEqual(rows.slice(1))
  expect(unusedBindings(rows, [])).toEqual(rows)
})
