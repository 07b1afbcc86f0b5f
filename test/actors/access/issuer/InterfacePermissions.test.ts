import { expect, test } from "bun:test"
import { boundPermissions, type UsedInterface } from "../../../../actors/access/issuer/InterfacePermissions.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { namedCapsule, namedWorkspace } from "../../../support/NamedIds.ts"

const own = namedCapsule("a")
const consumer = namedCapsule("b")
const other = namedCapsule("c")

const ownerOf = (capsuleId: CapsuleId) => ({
  owner: { workspaceId: namedWorkspace("a"), capsuleId, activationDigest: undefined }
})
const use: UsedInterface = {
  row: { capsule_id: own },
  bindings: [
    { permissions: ["read", "own"], consumerCapsuleId: undefined },
    { permissions: ["read", "consume"], consumerCapsuleId: consumer }
  ]
}
const policy = {
  allowedPermissions: ["own", "consume", "read", "write"].map((permission) => ({ permission, delivery: "oauth2" }))
}

test("an operator application receives all of the person's bindings, in policy order", () => {
  expect(boundPermissions({ owner: undefined }, use, policy)).toEqual(["own", "consume", "read"])
})

test("a Capsule's application receives the Interfaces that it declares and the Capsule's own Interfaces", () => {
  expect(boundPermissions(ownerOf(own), use, policy)).toEqual(["own", "read"])
  expect(boundPermissions(ownerOf(consumer), use, policy)).toEqual(["consume", "read"])
  expect(boundPermissions(ownerOf(other), use, policy)).toEqual([])
})

test("the operator's current policy limits even Interface permissions that were delivered earlier", () => {
  expect(boundPermissions({ owner: undefined }, use, { allowedPermissions: [] })).toEqual([])
  const elsewhere = [{ permission: "read", delivery: "header" }]
  expect(boundPermissions({ owner: undefined }, use, { allowedPermissions: elsewhere })).toEqual([])
})
