import { Array as Arr, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CompiledRequirement } from "../../schema/manifest/CompiledInstall.ts"
import type { ConsumedInterfaceRequirement } from "../../schema/manifest/RequirementDeclaration.ts"
import type { CapsuleId, InterfaceBindingId, InterfaceId, WorkspaceId } from "../../schema/records/Ids.ts"
import type { CapsuleRow } from "../authority/CapsuleRow.ts"
import { InstallPolicy } from "../configuration/InstallPolicy.ts"
import { type DeliveryRefused, refused } from "./DeliveryRefused.ts"
import type { RunRow } from "../run/RunRow.ts"
import { bindingId, InterfaceLedger, permissionsText } from "../interface/InterfaceLedger.ts"
import { BindingRow, InterfaceRow } from "../interface/InterfaceRow.ts"
import { capsuleInService } from "../../schema/tables/CapsuleTables.ts"

/** What a plan resolved an `interface.consume` requirement to. */
export interface ConsumedInterface {
  readonly key: string
  readonly interfaceId: InterfaceId
  readonly bindingId: InterfaceBindingId
}

const consumes = (requires: ReadonlyArray<CompiledRequirement>): ReadonlyArray<ConsumedInterfaceRequirement> =>
  requires.filter((requirement) => requirement.kind === "interface.consume")

/**
 * Resolves `interface.consume`: after the plan to exactly one Resolved Interface of the Capsule's own Workspace, with the
 * least binding that does. The binding is pending while the plan is reviewed, and ready from its apply on: a plan that
 * nobody approved grants nothing.
 */
export class InterfaceConsumption extends Context.Service<
  InterfaceConsumption,
  {
    /** In the transaction that makes the plan reviewable. */
    readonly resolve: (
      run: RunRow,
      capsule: CapsuleRow,
      requires: ReadonlyArray<CompiledRequirement>
    ) => Effect.Effect<ReadonlyArray<ConsumedInterface>, DeliveryRefused>
    /** Before the tool of the apply starts: the same Interfaces, still alone, by bindings that still stand. */
    readonly check: (
      capsule: CapsuleRow,
      requires: ReadonlyArray<CompiledRequirement>,
      consumed: ReadonlyArray<ConsumedInterface>
    ) => Effect.Effect<void, DeliveryRefused>
    /** In the transaction that settles the apply. What the Capsule consumed before and no longer does is switched off. */
    readonly activate: (capsuleId: CapsuleId, consumed: ReadonlyArray<ConsumedInterface>) => Effect.Effect<void>
    /** In the transaction of a terminal destroy. */
    readonly release: (capsuleId: CapsuleId) => Effect.Effect<void>
  }
>()("svc/actors/delivery/InterfaceConsumption") {
  static readonly layer = Layer.effect(
    InterfaceConsumption,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* InterfaceLedger
      const install = yield* InstallPolicy

      const checkPolicy = ({ delivery, key, permissions }: ConsumedInterfaceRequirement) => {
        const denied = permissions.some(
          (permission) =>
            !install.policy.allowedPermissions.some(
              (allowed) => allowed.permission === permission && allowed.delivery === delivery.type
            )
        )
        return denied
          ? Effect.fail(
              refused(
                "interface_permission_not_allowed",
                `The operator does not allow the permissions or the delivery that the requirement ${key} asks for.`
              )
            )
          : Effect.void
      }

      const provider = Effect.fnUntraced(function* (capsule: CapsuleRow, requirement: ConsumedInterfaceRequirement) {
        const { key } = requirement
        const { type, version } = requirement.interface
        const matches = yield* Effect.orDie(InterfaceRow.some(sql, "id")`SELECT i.id FROM interfaces i
          JOIN capsules c ON c.id = i.capsule_id AND ${sql.literal(capsuleInService("c."))}
          WHERE i.workspace_id = ${capsule.workspace_id} AND i.type = ${type} AND i.version = ${version}
            AND i.status = 'resolved' ORDER BY i.id LIMIT 2`)
        if (!Arr.isReadonlyArrayNonEmpty(matches)) {
          return yield* refused(
            "interface_not_resolved",
            `The requirement ${key} needs an Interface ${type} ${version}, and no Capsule of this Workspace provides one. Install and apply one that does, then plan again.`
          )
        }
        const [only, ...others] = matches
        if (others.length > 0) {
          return yield* refused(
            "interface_ambiguous",
            `The requirement ${key} needs exactly one Interface ${type} ${version}, and several Capsules of this Workspace provide one.`
          )
        }
        return only.id
      })

      const isMember = Effect.fnUntraced(function* (subject: string, workspaceId: WorkspaceId) {
        const rows = yield* sql`SELECT m.subject FROM memberships m JOIN users u ON u.subject = m.subject
          WHERE m.workspace_id = ${workspaceId} AND m.subject = ${subject} AND m.status = 'active' AND u.status = 'active'`
        return rows.length > 0
      }, Effect.orDie)

      /** Who planned it; for an automatic plan, the person who holds the binding already. */
      const principalOf = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: CapsuleRow,
        key: string,
        interfaceId: InterfaceId
      ) {
        const holder = Effect.orDie(BindingRow.some(sql, "subject")`SELECT subject FROM interface_bindings
          WHERE consumer_capsule_id = ${capsule.id} AND request_key = ${key} AND interface_id = ${interfaceId}
            AND status = 'ready' ORDER BY created_at, id LIMIT 1`)
        const subject = run.created_by ?? (yield* holder)[0]?.subject
        return subject !== undefined && (yield* isMember(subject, capsule.workspace_id))
          ? subject
          : yield* refused(
              "interface_principal_missing",
              `The requirement ${key} binds a person to an Interface, and this plan was made by nobody who is an active member of the Workspace. Plan it yourself.`
            )
      })

      const checkBinding = (binding: BindingRow, { delivery, key, permissions }: ConsumedInterfaceRequirement) => {
        if (binding.status === "revoked") {
          return refused("interface_binding_revoked", `The binding of the requirement ${key} was revoked.`)
        }
        const same = binding.permissions === permissionsText(permissions) && binding.delivery_type === delivery.type
        return same
          ? undefined
          : refused(
              "interface_binding_conflict",
              `The requirement ${key} has a binding with other permissions or another delivery already.`
            )
      }

      const resolve = Effect.fn("InterfaceConsumption.resolve")(function* (
        run: RunRow,
        capsule: CapsuleRow,
        requires: ReadonlyArray<CompiledRequirement>
      ) {
        const consumed: Array<ConsumedInterface> = []
        for (const requirement of consumes(requires)) {
          const { key } = requirement
          yield* checkPolicy(requirement)
          const interfaceId = yield* provider(capsule, requirement)
          const subject = yield* principalOf(run, capsule, key, interfaceId)
          const wanted = {
            workspaceId: capsule.workspace_id,
            interfaceId,
            subject,
            consumerCapsuleId: capsule.id,
            requestKey: key
          }
          const id = bindingId(wanted)
          const existing = yield* ledger.findBinding(id)
          const problem = existing === undefined ? undefined : checkBinding(existing, requirement)
          if (problem !== undefined) return yield* problem
          if (existing === undefined) {
            yield* ledger.insertBinding({
              ...wanted,
              permissions: requirement.permissions,
              deliveryType: requirement.delivery.type,
              status: "pending",
              runId: run.id
            })
          }
          consumed.push({ key, interfaceId, bindingId: id })
        }
        return consumed
      })

      const check = Effect.fn("InterfaceConsumption.check")(function* (
        capsule: CapsuleRow,
        requires: ReadonlyArray<CompiledRequirement>,
        consumed: ReadonlyArray<ConsumedInterface>
      ) {
        for (const requirement of consumes(requires)) {
          const { key } = requirement
          yield* checkPolicy(requirement)
          const pinned = consumed.find((entry) => entry.key === key)
          const binding = pinned === undefined ? undefined : yield* ledger.findBinding(pinned.bindingId)
          if (
            pinned === undefined ||
            binding === undefined ||
            (yield* provider(capsule, requirement)) !== pinned.interfaceId
          ) {
            return yield* refused(
              "delivery_drift",
              `The requirement ${key} is met by another Interface than the one that was reviewed. Plan again.`
            )
          }
          const problem = checkBinding(binding, requirement)
          if (problem !== undefined) return yield* problem
          if (!(yield* isMember(binding.subject, capsule.workspace_id))) {
            return yield* refused(
              "interface_principal_missing",
              `The person whom the requirement ${key} was bound for is no active member of the Workspace any more.`
            )
          }
        }
      })

      const activate = Effect.fn("InterfaceConsumption.activate")(function* (
        capsuleId: CapsuleId,
        consumed: ReadonlyArray<ConsumedInterface>
      ) {
        const rows = yield* Effect.orDie(
          BindingRow.rows(
            sql
          )`SELECT * FROM interface_bindings WHERE consumer_capsule_id = ${capsuleId} AND status <> 'revoked'`
        )
        const wanted = (row: BindingRow) =>
          consumed.some((entry) => entry.key === row.request_key && entry.interfaceId === row.interface_id)
        yield* ledger.setBindings(
          rows.filter((row) => !wanted(row)).map(({ id }) => id),
          "not_ready"
        )
        yield* ledger.setBindings(
          consumed.map((entry) => entry.bindingId),
          "ready"
        )
      })

      const release = Effect.fn("InterfaceConsumption.release")(function* (capsuleId: CapsuleId) {
        const rows = yield* Effect.orDie(
          BindingRow.some(sql, "id")`SELECT id FROM interface_bindings WHERE consumer_capsule_id = ${capsuleId}`
        )
        yield* ledger.setBindings(
          rows.map(({ id }) => id),
          "revoked"
        )
      })

      return InterfaceConsumption.of({ resolve, check, activate, release })
    })
  )
}
