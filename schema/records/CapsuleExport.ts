import { Schema } from "effect"
import { CapsuleId, StateVersionId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** Permission to download the contents of a Capsule. The link works only for the credential that requested it. */
export class CapsuleExport extends Schema.Opaque<CapsuleExport>()(
  Schema.Struct({
    capsuleId: CapsuleId,
    stateVersionId: StateVersionId,
    resolvedCommit: Schema.String,
    fileName: Schema.String,
    /** Path of the download. */
    link: Schema.String,
    expiresAt: Timestamp,
    /** Inputs whose values are not in the archive: secrets, and values that are no longer available. */
    inputsToSupply: Schema.Array(Schema.String)
  }).annotate({ identifier: "CapsuleExport" })
) {}
