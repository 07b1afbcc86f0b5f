import { Schema } from "effect"
import { CapsuleId, OutputShareId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

export const SharedOutput = Schema.Struct({ name: Schema.String, alias: Schema.optionalKey(Schema.String) })

export const OutputShare = Schema.Struct({
  id: OutputShareId,
  fromWorkspaceId: WorkspaceId,
  toWorkspaceId: WorkspaceId,
  producerCapsuleId: CapsuleId,
  outputs: Schema.Array(SharedOutput),
  status: Schema.Literals(["pending", "active", "revoked"]),
  createdAt: Timestamp,
  approvedAt: Schema.optionalKey(Timestamp),
  revokedAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "OutputShare" })
export type OutputShare = typeof OutputShare.Type
