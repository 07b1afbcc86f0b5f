import { Effect, Schema } from "effect"
import { Interface, InterfaceAccess, InterfaceMaterializationFailure } from "../../../schema/records/Interface.ts"
import { InterfaceBinding } from "../../../schema/records/InterfaceBinding.ts"
import {
  CapsuleId,
  InstallConfigId,
  InterfaceBindingId,
  InterfaceId,
  RunId,
  StateVersionId,
  Subject,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { capsuleInService } from "../../../schema/tables/CapsuleTables.ts"

/** Interfaces of Capsules. */
export const InterfaceRow = table("interfaces", {
  id: InterfaceId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  interface_key: Schema.String,
  name: Schema.String,
  type: Schema.String,
  version: Schema.String,
  document: Schema.String,
  inputs: Schema.String,
  access: Schema.String,
  status: Interface.fields.status,
  revision: Schema.Int,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type InterfaceRow = RowOf<typeof InterfaceRow.columns>

/** Bindings: the permission of one person to use an Interface. */
export const BindingRow = table("interface_bindings", {
  id: InterfaceBindingId,
  workspace_id: WorkspaceId,
  interface_id: InterfaceId,
  subject: Subject,
  consumer_capsule_id: Schema.NullOr(CapsuleId),
  request_key: Schema.String,
  permissions: Schema.String,
  delivery_type: Schema.String,
  status: InterfaceBinding.fields.status,
  created_by_run_id: Schema.NullOr(RunId),
  created_at: Timestamp,
  updated_at: Timestamp
})
export type BindingRow = RowOf<typeof BindingRow.columns>

/** Materialisation intents, recorded by applies. */
export const IntentRow = table("interface_intents", {
  id: Schema.String,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  interface_key: Schema.String,
  run_id: RunId,
  install_config_id: InstallConfigId,
  state_version_id: StateVersionId,
  status: Schema.Literals(["pending", "done", "failed", "superseded"]),
  attempt: Schema.Int,
  code: Schema.NullOr(Schema.String),
  message: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  updated_at: Timestamp
})
export type IntentRow = RowOf<typeof IntentRow.columns>

export type BindingStatus = "pending" | "ready" | "not_ready" | "revoked"

export const InputsJson = Schema.fromJsonString(Interface.fields.inputs)
export const DocumentJson = Schema.fromJsonString(Interface.fields.document)
export const AccessJson = Schema.fromJsonString(InterfaceAccess)
export const PermissionsJson = Schema.fromJsonString(Schema.Array(Schema.String))

const decodeInterface = storedRecord(Interface)
const decodeFailure = storedRecord(InterfaceMaterializationFailure)
const decodeDocument = Schema.decodeUnknownSync(DocumentJson)
const decodeInputs = Schema.decodeUnknownSync(InputsJson)
const decodeAccess = Schema.decodeUnknownSync(AccessJson)

/** Returns the public projection. It never includes bindings. */
export const toInterface = (row: InterfaceRow): Interface =>
  decodeInterface({
    id: row.id,
    workspaceId: row.workspace_id,
    capsuleId: row.capsule_id,
    key: row.interface_key,
    name: row.name,
    type: row.type,
    version: row.version,
    document: decodeDocument(row.document),
    inputs: decodeInputs(row.inputs),
    access: decodeAccess(row.access),
    status: row.status,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at
  })

export const toFailure = (row: IntentRow) =>
  decodeFailure({
    intentId: row.id,
    workspaceId: row.workspace_id,
    capsuleId: row.capsule_id,
    key: row.interface_key,
    code: row.code ?? "pending",
    message: row.message ?? "The materialisation is under way.",
    attempt: row.attempt,
    createdAt: row.created_at,
    updatedAt: row.updated_at
  })

/** A binding that is currently valid, with its permissions. */
interface StandingBinding {
  readonly permissions: ReadonlyArray<string>
  /** The Capsule whose declaration requested the binding; `undefined` if the declaration of the Interface requested it. */
  readonly consumerCapsuleId: CapsuleId | undefined
}

/** An Interface that can be used, and one person's permissions for one kind of delivery. */
export interface InterfaceUse {
  readonly row: InterfaceRow
  readonly bindings: ReadonlyArray<StandingBinding>
}

const decodePermissions = Schema.decodeUnknownSync(PermissionsJson)

/**
 * Reads, through `sql`, how a person may currently use an Interface. Returns `undefined` unless the Interface is resolved,
 * its Capsule is in service, the person is an active member, and the binding is ready.
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
