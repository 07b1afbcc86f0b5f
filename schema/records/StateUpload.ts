import { Schema } from "effect"
import { ImportedFrom } from "./ImportedFrom.ts"
import { StateUploadId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** A SHA-256 digest in lower-case hexadecimal digits. */
export const Sha256 = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{64}$/, { description: "a SHA-256 digest of 64 lower-case hexadecimal digits" })
)

/** An uploaded state that is waiting for its install. No response contains the state itself. */
export class StateUpload extends Schema.Opaque<StateUpload>()(
  Schema.Struct({
    id: StateUploadId,
    workspaceId: WorkspaceId,
    sha256: Sha256,
    sizeBytes: Schema.Int,
    lineage: Schema.String,
    serial: Schema.Int,
    /** Number of instances of managed resources. */
    resourceCount: Schema.Int,
    /** The version of the tool that wrote the state; absent if the state does not contain it. */
    toolVersion: Schema.optionalKey(Schema.String),
    /** Set for a state from another installation's backup. */
    importedFrom: Schema.optionalKey(ImportedFrom),
    createdAt: Timestamp,
    /** Time at which the upload is erased, unless an install uses it first. */
    expiresAt: Timestamp
  }).annotate({ identifier: "StateUpload" })
) {}

/** An address with its instance key, as the tool writes it. */
const Address = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1024))

/**
 * The uploaded state that an install takes over.
 * - `sha256`: digest of the file that the owner intends to use
 * - `undeclared`: resources in the state that the module does not declare; the plan will destroy these resources, and the
 *   owner has confirmed this
 */
export class AdoptedUpload extends Schema.Opaque<AdoptedUpload>()(
  Schema.Struct({
    uploadId: StateUploadId,
    sha256: Sha256,
    undeclared: Schema.optionalKey(Schema.Array(Address).check(Schema.isMaxLength(1000)))
  })
) {}
