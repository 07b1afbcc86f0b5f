import { Schema } from "effect"
import { CapsuleId, InterfaceId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

export const InterfaceAccess = Schema.Struct({
  visibility: Schema.Literal("workspace"),
  resourceUriInput: Schema.optionalKey(Schema.String)
})

/** An Interface that a Capsule offers, created or updated after an apply. */
export class Interface extends Schema.Opaque<Interface>()(
  Schema.Struct({
    id: InterfaceId,
    workspaceId: WorkspaceId,
    capsuleId: CapsuleId,
    key: Schema.String,
    name: Schema.String,
    type: Schema.String,
    version: Schema.String,
    document: Schema.Json,
    inputs: Schema.Record(Schema.String, Schema.Json),
    access: InterfaceAccess,
    status: Schema.Literals(["pending", "resolved", "not_ready", "retired"]),
    revision: Schema.Int,
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "Interface" })
) {}

/** The reason why an Interface could not be materialised. Contains no values. */
export const InterfaceMaterializationFailure = Schema.Struct({
  intentId: Schema.String,
  workspaceId: WorkspaceId,
  capsuleId: CapsuleId,
  key: Schema.String,
  code: Schema.String,
  message: Schema.String,
  attempt: Schema.Int,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({ identifier: "InterfaceMaterializationFailure" })
