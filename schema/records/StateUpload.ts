import { Schema } from "effect"
import { ImportedFrom } from "./ImportedFrom.ts"
import { StateUploadId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** A complete digest in lower-case hexadecimal digits. */
export const Sha256 = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{64}$/, { description: "a SHA-256 digest of 64 lower-case hexadecimal digits" })
)

/** An uploaded state that is waiting for its install. The state itself never leaves through the API. */
export class StateUpload extends Schema.Opaque<StateUpload>()(
  Schema.Struct({
    id: StateUploadId,
    workspaceId: WorkspaceId,
    sha256: Sha256,
    sizeBytes: Schema.Int,
    lineage: Schema.String,
    serial: Schema.Int,
    /** Instances of managed resources. */
    resourceCount: Schema.Int,
    /** The version of the tool that wrote the state; absent when the state does not specify it. */
    toolVersion: Schema.optionalKey(Schema.String),
    /** For a state from another installation's backup. */
    importedFrom: Schema.optionalKey(ImportedFrom),
    createdAt: Timestamp,
    /** The time at which it is erased unless an install accepts it before. */
    expiresAt: Timestamp
  }).annotate({ identifier: "StateUpload" })
) {}

/** An address with its instance key, as the tool writes it. */
const Address = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1024))

/**
 * The uploaded state that an install takes over.
 *
 * - `sha256`: digest of the file that the owner intends to use
 * - `undeclared`: resources in the state that the module does not declare, as confirmed by the owner: the plan will destroy them
 */
export class AdoptedUpload extends Schema.Opaque<AdoptedUpload>()(
  Schema.Struct({
    uploadId: StateUploadId,
    sha256: Sha256,
    undeclared: Schema.optionalKey(Schema.Array(Address).check(Schema.isMaxLength(1000)))
  })
) {}
