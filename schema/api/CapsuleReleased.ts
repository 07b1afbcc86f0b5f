import { Schema } from "effect"
import { Capsule, ReleaseReason } from "../records/Capsule.ts"
import { CapsuleId, InterfaceId, OutputShareId } from "../records/Ids.ts"
import { freeText } from "../records/Primitives.ts"

export class ReleaseRequest extends Schema.Opaque<ReleaseRequest>()(
  Schema.Struct({
    confirm: Schema.String.check(Schema.isMaxLength(200)),
    reason: ReleaseReason,
    comment: Schema.optionalKey(freeText(1000))
  }).annotate({ identifier: "ReleaseRequest" })
) {}

/** Work and grants that svc stopped or revoked when it released a Capsule. */
export class CapsuleReleased extends Schema.Opaque<CapsuleReleased>()(
  Schema.Struct({
    capsule: Capsule,
    retiredInterfaceIds: Schema.Array(InterfaceId),
    revokedShareIds: Schema.Array(OutputShareId),
    /**
     * Consumers of the Capsule's Outputs in the same Workspace. Consumers in other Workspaces are only counted, not listed.
     */
    consumerCapsuleIds: Schema.Array(CapsuleId),
    consumersElsewhere: Schema.Int
  }).annotate({ identifier: "CapsuleReleased" })
) {}
