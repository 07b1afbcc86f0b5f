import { Array as Arr, Result } from "effect"
import type { ConsumedInterfaceRequirement } from "../../../schema/manifest/RequirementDeclaration.ts"
import type { InterfaceBindingId, InterfaceId } from "../../../schema/records/Ids.ts"
import { permissionsText } from "../../ledger/interface/InterfaceLedger.ts"
import type { BindingRow } from "../../ledger/interface/InterfaceRow.ts"
import { type DeliveryRefused, refused } from "./DeliveryRefused.ts"

/** An `interface.consume` requirement of a plan, after it has been resolved. */
export interface ConsumedInterface {
  readonly key: string
  readonly interfaceId: InterfaceId
  readonly bindingId: InterfaceBindingId
}

type Requirement = Pick<ConsumedInterfaceRequirement, "key" | "delivery" | "permissions" | "interface">

/** Returns the reason why the operator's policy refuses a requirement. */
export const policyProblem = (
  { delivery, key, permissions }: Requirement,
  allowedPermissions: ReadonlyArray<{ readonly permission: string; readonly delivery: string }>
): DeliveryRefused | undefined => {
  const isAllowed = (permission: string) =>
    allowedPermissions.some((allowed) => allowed.permission === permission && allowed.delivery === delivery.type)
  return permissions.every(isAllowed)
    ? undefined
    : refused(
        "interface_permission_not_allowed",
        `The operator does not allow the permissions or the delivery that the requirement ${key} requests.`
      )
}

/** Returns the only matching Interface of the Workspace, or the reason why there is not exactly one match. */
export const soleInterface = <Row>(
  { interface: { type, version }, key }: Requirement,
  matches: ReadonlyArray<Row>
): Result.Result<Row, DeliveryRefused> => {
  if (!Arr.isReadonlyArrayNonEmpty(matches)) {
    return Result.fail(
      refused(
        "interface_not_resolved",
        `The requirement ${key} needs an Interface ${type} ${version}, and no Capsule of this Workspace provides one. Install and apply one that does, then plan again.`
      )
    )
  }
  return matches.length === 1
    ? Result.succeed(matches[0])
    : Result.fail(
        refused(
          "interface_ambiguous",
          `The requirement ${key} needs exactly one Interface ${type} ${version}, and several Capsules of this Workspace provide one.`
        )
      )
}

/** Returns the reason why a binding does not grant the required permissions. */
export const bindingProblem = (
  binding: Pick<BindingRow, "status" | "permissions" | "delivery_type">,
  { delivery, key, permissions }: Requirement
): DeliveryRefused | undefined => {
  if (binding.status === "revoked") {
    return refused("interface_binding_revoked", `The binding of the requirement ${key} was revoked.`)
  }
  return binding.permissions === permissionsText(permissions) && binding.delivery_type === delivery.type
    ? undefined
    : refused(
        "interface_binding_conflict",
        `The requirement ${key} has a binding with other permissions or another delivery already.`
      )
}

/** A requirement as recorded in the plan, with the facts at the time of its apply. */
export interface Reviewed {
  readonly pinned: Pick<ConsumedInterface, "interfaceId"> | undefined
  readonly binding: Pick<BindingRow, "status" | "permissions" | "delivery_type"> | undefined
  /** The Interface that currently matches. It is not looked up if there is no binding. */
  readonly interfaceId: InterfaceId | undefined
  /** True if the binding belongs to an active member of the Workspace. */
  readonly isMember: boolean
}

/** Returns the reason why an apply must not use the reviewed Interface. */
export const reviewProblem = (
  requirement: Requirement,
  { binding, interfaceId, isMember, pinned }: Reviewed
): DeliveryRefused | undefined => {
  const { key } = requirement
  if (pinned === undefined || binding === undefined || pinned.interfaceId !== interfaceId) {
    return refused(
      "delivery_drift",
      `The requirement ${key} is now met by an Interface that was not reviewed. Plan again.`
    )
  }
  const problem = bindingProblem(binding, requirement)
  if (problem !== undefined) return problem
  return isMember
    ? undefined
    : refused(
        "interface_principal_missing",
        `The person whom the requirement ${key} was bound for is no active member of the Workspace any more.`
      )
}

/** Returns those bindings of the Capsule that its apply does not use; the caller disables them. */
export const unusedBindings = <Row extends Pick<BindingRow, "request_key" | "interface_id">>(
  rows: ReadonlyArray<Row>,
  consumed: ReadonlyArray<Pick<ConsumedInterface, "key" | "interfaceId">>
): ReadonlyArray<Row> =>
  rows.filter(
    (row) => !consumed.some(({ interfaceId, key }) => key === row.request_key && interfaceId === row.interface_id)
  )
