import { Schema } from "effect"
import { CapsuleId, StateVersionId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** The permission to download what a Capsule consists of. The link is of use only in the session that asked for it. */
export class CapsuleExport extends Schema.Opaque<CapsuleExport>()(
  Schema.Struct({
    capsuleId: CapsuleId,
    stateVersionId: StateVersionId,
    resolvedCommit: Schema.String,
    fileName: Schema.String,
    /** Path of the download. */
    link: Schema.String,
    expiresAt: Timestamp,
    /** Inputs that are not in the archive: secrets, and what nobody provides any more. */
    inputsToSupply: Schema.Array(Schema.String)
  }).annotate({ identifier: "CapsuleExport" })
) {}
