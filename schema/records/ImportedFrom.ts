import { Schema } from "effect"
import { BackupId, CapsuleId, StateVersionId, Subject, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** A Capsule of another installation, as described in its backup. The ids belong to that installation. */
export class ImportedFrom extends Schema.Opaque<ImportedFrom>()(
  Schema.Struct({
    backupId: BackupId,
    workspaceId: WorkspaceId,
    capsuleId: CapsuleId,
    name: Schema.String,
    stateVersionId: StateVersionId,
    stateCreatedAt: Timestamp,
    generation: Schema.Int,
    /** Serial of the state in the backup. The imported state gets the next serial. */
    serial: Schema.Int
  }).annotate({ identifier: "ImportedFrom" })
) {}

/**
 * The origin of an imported Capsule. Without `confirmedAt`, the Capsule is disabled until an owner confirms that the original no
 * longer manages the infrastructure.
 */
export class CapsuleImport extends Schema.Opaque<CapsuleImport>()(
  Schema.Struct({
    from: ImportedFrom,
    confirmedAt: Schema.optionalKey(Timestamp),
    confirmedBy: Schema.optionalKey(Subject)
  }).annotate({ identifier: "CapsuleImport" })
) {}
