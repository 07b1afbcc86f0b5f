import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CompiledRequirement } from "../../../schema/manifest/CompiledInstall.ts"
import type { ConsumedInterfaceRequirement } from "../../../schema/manifest/RequirementDeclaration.ts"
import type { CapsuleId, InterfaceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { InstallPolicy } from "../../ledger/configuration/InstallConfigCompilation.ts"
import { type DeliveryRefused, refused } from "./DeliveryRefused.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import {
  bindingProblem,
  type ConsumedInterface,
  policyProblem,
  reviewProblem,
  soleInterface,
  unusedBindings
} from "./InterfaceConsumptionDecision.ts"
import { bindingId, InterfaceLedger } from "../../ledger/interface/InterfaceLedger.ts"
import { BindingRow, InterfaceRow } from "../../ledger/interface/InterfaceRow.ts"
import { capsuleInService } from "../../../schema/tables/CapsuleTables.ts"

const consumes = (requires: ReadonlyArray<CompiledRequirement>): ReadonlyArray<ConsumedInterfaceRequirement> =>
  requires.filter((requirement) => requirement.kind === "interface.consume")

/**
 * Resolves `interface.consume` after the plan, to exactly one resolved Interface of the same Workspace, with the minimal binding.
 * During the review the binding is pending, so an unapproved plan grants nothing; it becomes ready when the plan is applied.
 */
export class InterfaceConsumption extends Context.Service<
  InterfaceConsumption,
  {
    /** Resolves the consumed Interfaces in the transaction that makes the plan ready for review. */
    readonly resolve: (
      run: RunRow,
      capsule: CapsuleRow,
      requires: ReadonlyArray<CompiledRequirement>
    ) => Effect.Effect<ReadonlyArray<ConsumedInterface>, DeliveryRefused>
    /**
     * Checks that the requirements still match the same Interfaces, unambiguously, and that their bindings are valid. Called
     * before the apply's tool starts.
     */
    readonly check: (
      capsule: CapsuleRow,
      requires: ReadonlyArray<CompiledRequirement>,
      consumed: ReadonlyArray<ConsumedInterface>
    ) => Effect.Effect<void, DeliveryRefused>
    /**
     * Activates the bindings in the transaction that settles the apply. Disables bindings that the Capsule no longer consumes.
     */
    readonly activate: (capsuleId: CapsuleId, consumed: ReadonlyArray<ConsumedInterface>) => Effect.Effect<void>
    /** Releases the bindings in the transaction that settles a destroy. */
    readonly release: (capsuleId: CapsuleId) => Effect.Effect<void>
  }
>()("svc/actors/inputs/delivery/InterfaceConsumption") {
  static readonly layer = Layer.effect(
    InterfaceConsumption,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* InterfaceLedger
      const install = yield* InstallPolicy

      const checkPolicy = (requirement: ConsumedInterfaceRequirement) => {
        const problem = policyProblem(requirement, install.policy.allowedPermissions)
        return problem === undefined ? Effect.void : Effect.fail(problem)
      }

      const provider = Effect.fnUntraced(function* (capsule: CapsuleRow, requirement: ConsumedInterfaceRequirement) {
        const { type, version } = requirement.interface
        const matches = yield* Effect.orDie(InterfaceRow.some(sql, "id")`SELECT i.id FROM interfaces i
          JOIN capsules c ON c.id = i.capsule_id AND ${sql.literal(capsuleInService("c."))}
          WHERE i.workspace_id = ${capsule.workspace_id} AND i.type = ${type} AND i.version = ${version}
            AND i.status = 'resolved' ORDER BY i.id LIMIT 2`)
        const { id } = yield* Effect.fromResult(soleInterface(requirement, matches))
        return id
      })

      const isMember = Effect.fnUntraced(function* (subject: string, workspaceId: WorkspaceId) {
        const rows = yield* sql`SELECT m.subject FROM memberships m JOIN users u ON u.subject = m.subject
          WHERE m.workspace_id = ${workspaceId} AND m.subject = ${subject} AND m.status = 'active' AND u.status = 'active'`
        return rows.length > 0
      }, Effect.orDie)

      /** Returns the person who started the plan or, for an automatic plan, the person who holds the existing binding. */
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
          const problem = existing === undefined ? undefined : bindingProblem(existing, requirement)
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
          yield* checkPolicy(requirement)
          const pinned = consumed.find((entry) => entry.key === requirement.key)
          const binding = pinned === undefined ? undefined : yield* ledger.findBinding(pinned.bindingId)
          const problem = reviewProblem(requirement, {
            pinned,
            binding,
            interfaceId: binding === undefined ? undefined : yield* provider(capsule, requirement),
            isMember: binding !== undefined && (yield* isMember(binding.subject, capsule.workspace_id))
          })
          if (problem !== undefined) return yield* problem
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
        yield* ledger.setBindings(
          unusedBindings(rows, consumed).map(({ id }) => id),
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
