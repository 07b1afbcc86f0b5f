import { Schema } from "effect"
import { Interface, InterfaceAccess, InterfaceMaterializationFailure } from "../../schema/records/Interface.ts"

/** A row of `interfaces` as the database holds it. */
export interface InterfaceRow {
  readonly id: string
  readonly workspace_id: string
  readonly capsule_id: string
  readonly interface_key: string
  readonly name: string
  readonly type: string
  readonly version: string
  readonly document: string
  readonly inputs: string
  readonly access: string
  readonly status: Interface["status"]
  readonly revision: number
  readonly created_at: string
  readonly updated_at: string
}

export type BindingStatus = "pending" | "ready" | "not_ready" | "revoked"

export interface BindingRow {
  readonly id: string
  readonly workspace_id: string
  readonly interface_id: string
  readonly subject: string
  readonly consumer_capsule_id: string | null
  readonly request_key: string
  readonly permissions: string
  readonly delivery_type: string
  readonly status: BindingStatus
}

export interface IntentRow {
  readonly id: string
  readonly workspace_id: string
  readonly capsule_id: string
  readonly interface_key: string
  readonly run_id: string
  readonly install_config_id: string
  readonly state_version_id: string
  readonly status: "pending" | "done" | "failed" | "superseded"
  readonly attempt: number
  readonly code: string | null
  readonly message: string | null
  readonly created_at: string
  readonly updated_at: string
}

export const InputsJson = Schema.fromJsonString(Interface.fields.inputs)
export const DocumentJson = Schema.fromJsonString(Interface.fields.document)
export const AccessJson = Schema.fromJsonString(InterfaceAccess)
export const PermissionsJson = Schema.fromJsonString(Schema.Array(Schema.String))

const decodeInterface = Schema.decodeUnknownSync(Interface)
const decodeFailure = Schema.decodeUnknownSync(InterfaceMaterializationFailure)
const decodeDocument = Schema.decodeUnknownSync(DocumentJson)
const decodeInputs = Schema.decodeUnknownSync(InputsJson)
const decodeAccess = Schema.decodeUnknownSync(AccessJson)

/** The public projection. Bindings are never part of it. */
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
