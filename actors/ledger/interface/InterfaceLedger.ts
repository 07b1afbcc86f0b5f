import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { InterfaceBlueprint } from "../../../schema/manifest/CompiledInstall.ts"
import {
  type CapsuleId,
  InterfaceBindingId,
  InterfaceId,
  type RunId,
  type WorkspaceId
} from "../../../schema/records/Ids.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { BindingRow, type BindingStatus, InterfaceRow, PermissionsJson } from "./InterfaceRow.ts"

interface Owner {
  readonly id: CapsuleId
  readonly workspace_id: WorkspaceId
}

/** A binding to create. Creating the same binding again returns the existing one. */
export interface NewBinding {
  readonly workspaceId: WorkspaceId
  readonly interfaceId: InterfaceId
  readonly subject: string
  readonly consumerCapsuleId?: CapsuleId | undefined
  readonly requestKey: string
  readonly permissions: ReadonlyArray<string>
  readonly deliveryType: string
  readonly status: BindingStatus
  readonly runId: RunId
}

const encodePermissions = Schema.encodeSync(PermissionsJson)

/** Formats the permissions as a string that does not depend on their order. */
export const permissionsText = (permissions: ReadonlyArray<string>) => encodePermissions([...permissions].sort())

/** Derives the id from the consumer or install, the request and the person, so that a revoked binding is never created again. */
export const bindingId = (binding: Omit<NewBinding, "status" | "runId" | "permissions" | "deliveryType">) =>
  derivedId(
    InterfaceBindingId,
    "ifb",
    binding.interfaceId,
    canonicalJson([binding.consumerCapsuleId ?? null, binding.requestKey, binding.subject])
  )

/** The only writer of `interfaces` and `interface_bindings`. Every method works in the caller's transaction. */
export class InterfaceLedger extends Context.Service<
  InterfaceLedger,
  {
    readonly ofCapsule: (capsuleId: CapsuleId) => Effect.Effect<ReadonlyArray<InterfaceRow>>
    /** Creates the Interface in the `pending` status, or returns a retired Interface to that status. */
    readonly announce: (capsule: Owner, blueprint: InterfaceBlueprint) => Effect.Effect<void>
    /** Updates the Interface after an apply. Increments the revision only if something has changed. */
    readonly resolve: (
      capsule: Owner,
      blueprint: InterfaceBlueprint,
      inputs: Readonly<Record<string, Schema.Json>>
    ) => Effect.Effect<InterfaceId>
    readonly notReady: (capsuleId: CapsuleId, key: string) => Effect.Effect<void>
    /** Retires Interfaces permanently, and revokes their bindings. */
    readonly retire: (ids: ReadonlyArray<InterfaceId>) => Effect.Effect<void>
    readonly findBinding: (id: InterfaceBindingId) => Effect.Effect<BindingRow | undefined>
    readonly insertBinding: (binding: NewBinding) => Effect.Effect<string>
    readonly setBindings: (ids: ReadonlyArray<InterfaceBindingId>, status: BindingStatus) => Effect.Effect<void>
  }
>()("svc/actors/ledger/interface/InterfaceLedger") {
  static readonly layer = Layer.effect(
    InterfaceLedger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const find = (capsuleId: CapsuleId, key: string) =>
        Effect.map(
          InterfaceRow.rows(sql)`SELECT * FROM interfaces WHERE capsule_id = ${capsuleId} AND interface_key = ${key}`,
          (rows) => rows[0]
        )

      const columnsOf = ({ name, spec }: InterfaceBlueprint, inputs: Readonly<Record<string, Schema.Json>>) => ({
        name,
        type: spec.type,
        version: spec.version,
        document: canonicalJson(spec.document),
        inputs: canonicalJson({ ...inputs }),
        access: canonicalJson({ ...spec.access })
      })

      const insert = Effect.fnUntraced(function* (
        capsule: Owner,
        blueprint: InterfaceBlueprint,
        columns: Pick<
          InterfaceRow,
          "name" | "type" | "version" | "document" | "inputs" | "access" | "status" | "revision"
        >
      ) {
        const id = derivedId(InterfaceId, "ifc", capsule.id, blueprint.key)
        const at = yield* now
        yield* sql`INSERT INTO interfaces ${InterfaceRow.values(sql, {
          id,
          workspace_id: capsule.workspace_id,
          capsule_id: capsule.id,
          interface_key: blueprint.key,
          ...columns,
          created_at: at,
          updated_at: at
        })}`
        return id
      })

      const announce = Effect.fn("InterfaceLedger.announce")(function* (capsule: Owner, blueprint: InterfaceBlueprint) {
        const row = yield* find(capsule.id, blueprint.key)
        if (row === undefined) {
          yield* insert(capsule, blueprint, { ...columnsOf(blueprint, {}), status: "pending", revision: 0 })
        } else if (row.status === "retired") {
          yield* sql`UPDATE interfaces SET ${InterfaceRow.changes(sql, { status: "pending", updated_at: yield* now })} WHERE id = ${row.id}`
        }
      }, Effect.orDie)

      const resolve = Effect.fnUntraced(function* (
        capsule: Owner,
        blueprint: InterfaceBlueprint,
        inputs: Readonly<Record<string, Schema.Json>>
      ) {
        const columns = columnsOf(blueprint, inputs)
        const row = yield* find(capsule.id, blueprint.key)
        if (row === undefined) return yield* insert(capsule, blueprint, { ...columns, status: "resolved", revision: 1 })
        const same =
          row.revision > 0 &&
          row.name === columns.name &&
          row.type === columns.type &&
          row.version === columns.version &&
          row.document === columns.document &&
          row.inputs === columns.inputs &&
          row.access === columns.access
        const revision = same ? row.revision : row.revision + 1
        yield* sql`UPDATE interfaces SET ${InterfaceRow.changes(sql, { ...columns, status: "resolved", revision, updated_at: yield* now })}
          WHERE id = ${row.id}`
        return row.id
      }, Effect.orDie)

      return InterfaceLedger.of({
        announce,
        resolve,
        ofCapsule: (capsuleId) =>
          Effect.orDie(
            InterfaceRow.rows(sql)`SELECT * FROM interfaces WHERE capsule_id = ${capsuleId} ORDER BY interface_key`
          ),
        notReady: Effect.fnUntraced(function* (capsuleId, key) {
          yield* sql`UPDATE interfaces SET ${InterfaceRow.changes(sql, { status: "not_ready", updated_at: yield* now })}
            WHERE capsule_id = ${capsuleId} AND interface_key = ${key} AND status <> 'retired'`
        }, Effect.orDie),
        retire: Effect.fnUntraced(function* (ids) {
          if (ids.length === 0) return
          const at = yield* now
          yield* sql`UPDATE interfaces SET ${InterfaceRow.changes(sql, { status: "retired", updated_at: at })} WHERE ${sql.in("id", ids)}`
          yield* sql`UPDATE interface_bindings SET ${BindingRow.changes(sql, { status: "revoked", updated_at: at })}
            WHERE ${sql.in("interface_id", ids)}`
        }, Effect.orDie),
        findBinding: Effect.fnUntraced(function* (id) {
          const rows = yield* BindingRow.rows(sql)`SELECT * FROM interface_bindings WHERE id = ${id}`
          return rows[0]
        }, Effect.orDie),
        insertBinding: Effect.fnUntraced(function* (binding) {
          const id = bindingId(binding)
          const at = yield* now
          yield* sql`INSERT INTO interface_bindings ${BindingRow.values(sql, {
            id,
            workspace_id: binding.workspaceId,
            interface_id: binding.interfaceId,
            subject: binding.subject,
            consumer_capsule_id: binding.consumerCapsuleId ?? null,
            request_key: binding.requestKey,
            permissions: permissionsText(binding.permissions),
            delivery_type: binding.deliveryType,
            status: binding.status,
            created_by_run_id: binding.runId,
            created_at: at,
            updated_at: at
          })}`
          return id
        }, Effect.orDie),
        setBindings: Effect.fnUntraced(function* (ids, status) {
          if (ids.length === 0) return
          yield* sql`UPDATE interface_bindings SET ${BindingRow.changes(sql, { status, updated_at: yield* now })}
            WHERE ${sql.in("id", ids)} AND status <> 'revoked'`
        }, Effect.orDie)
      })
    })
  )
}
