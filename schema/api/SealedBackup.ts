import { Schema } from "effect"
import { Backup } from "../records/Backup.ts"
import { CapsuleId, StateVersionId, WorkspaceId } from "../records/Ids.ts"
import { Timestamp } from "../records/Primitives.ts"

/** A data key, wrapped with a master key. The master key itself is not included. */
export class WrappedDataKey extends Schema.Opaque<WrappedDataKey>()(
  Schema.Struct({
    id: Schema.String,
    recordKind: Schema.String,
    workspaceId: WorkspaceId,
    masterKeyId: Schema.String,
    wrappedKey: Schema.String,
    createdAt: Timestamp
  }).annotate({ identifier: "WrappedDataKey" })
) {}

/** A backup as a file. Only its id and the ids of its master keys are readable. */
export class SealedBackup extends Schema.Opaque<SealedBackup>()(
  Schema.Struct({
    format: Schema.Literal("svc.sealed-backup/v1"),
    /** The master keys needed to open the backup. */
    masterKeyIds: Schema.Array(Schema.String),
    backup: Backup,
    capsules: Schema.Array(
      Schema.Struct({
        capsuleId: CapsuleId,
        name: Schema.String,
        generation: Schema.Int,
        stateVersionId: Schema.optionalKey(StateVersionId)
      })
    ),
    dataKeys: Schema.Array(WrappedDataKey),
    /** The sealed archive, as stored. */
    archive: Schema.String
  }).annotate({ identifier: "SealedBackup" })
) {}
