import { Schema } from "effect"
import { CapsuleId, OutputShareId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

export const SharedOutput = Schema.Struct({ name: Schema.String, alias: Schema.optionalKey(Schema.String) })

export class OutputShare extends Schema.Opaque<OutputShare>()(
  Schema.Struct({
    id: OutputShareId,
    fromWorkspaceId: WorkspaceId,
    toWorkspaceId: WorkspaceId,
    producerCapsuleId: CapsuleId,
    outputs: Schema.Array(SharedOutput),
    /** `unconfirmed`: restored from a backup; has no effect until the operator confirms it. */
    status: Schema.Literals(["pending", "active", "revoked", "unconfirmed"]),
    createdAt: Timestamp,
    approvedAt: Schema.optionalKey(Timestamp),
    revokedAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "OutputShare" })
) {}
