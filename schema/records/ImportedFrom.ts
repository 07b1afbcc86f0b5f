import { Schema } from "effect"
import { BackupId, CapsuleId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** Where an imported state comes from: a Capsule of another installation, as its backup has it. */
export const ImportedFrom = Schema.Struct({
  backupId: BackupId,
  backupAt: Timestamp,
  workspaceId: WorkspaceId,
  capsuleId: CapsuleId,
  name: Schema.String,
  generation: Schema.Int
}).annotate({ identifier: "ImportedFrom" })
export type ImportedFrom = typeof ImportedFrom.Type

/** The import of a Capsule, which is disabled until an owner has confirmed that its original no longer manages it. */
export const CapsuleImport = Schema.Struct({
  from: ImportedFrom,
  confirmedAt: Schema.optionalKey(Timestamp),
  confirmedBy: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "CapsuleImport" })
export type CapsuleImport = typeof CapsuleImport.Type
