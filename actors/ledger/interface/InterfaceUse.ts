import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { InterfaceRow, PermissionsJson, BindingRow } from "./InterfaceRow.ts"
import { capsuleInService } from "../../../schema/tables/CapsuleTables.ts"
import type { CapsuleId, InterfaceId } from "../../../schema/records/Ids.ts"

/** A currently valid binding, with its permissions. */
export interface StandingBinding {
  readonly permissions: ReadonlyArray<string>
  /** The Capsule whose declaration requested the binding; `undefined` if the Interface's own declaration requested it. */
  readonly consumerCapsuleId: CapsuleId | undefined
}

/** A valid Interface, and what one person may do with it through one delivery. */
export interface InterfaceUse {
  readonly row: InterfaceRow
  readonly bindings: ReadonlyArray<StandingBinding>
}

const decodePermissions = Schema.decodeUnknownSync(PermissionsJson)

/**
 * Reads through `sql` how a person may currently use an Interface: the Interface is resolved, its Capsule is serving, the person
 * is an active member, and the binding is ready. `undefined` if any of these does not hold.
 */
export const readInterfaceUse = Effect.fn("readInterfaceUse")(function* (
  sql: SqlClient.SqlClient,
  use: { readonly interfaceId: InterfaceId; readonly subject: string; readonly delivery: string }
): Effect.fn.Return<InterfaceUse | undefined, SqlError> {
  const [row] = yield* InterfaceRow.rows(sql)`SELECT i.* FROM interfaces i
    JOIN capsules c ON c.id = i.capsule_id AND ${sql.literal(capsuleInService("c."))}
    JOIN memberships m ON m.workspace_id = i.workspace_id AND m.subject = ${use.subject} AND m.status = 'active'
    JOIN users u ON u.subject = m.subject AND u.status = 'active'
    WHERE i.id = ${use.interfaceId} AND i.status = 'resolved'`
  if (row === undefined) return undefined
  const bindings = yield* BindingRow.some(
    sql,
    "permissions",
    "consumer_capsule_id"
  )`SELECT permissions, consumer_capsule_id FROM interface_bindings
    WHERE interface_id = ${row.id} AND subject = ${use.subject} AND status = 'ready' AND delivery_type = ${use.delivery}`
  return {
    row,
    bindings: bindings.map(({ consumer_capsule_id, permissions }) => ({
      permissions: decodePermissions(permissions),
      consumerCapsuleId: consumer_capsule_id ?? undefined
    }))
  }
})
