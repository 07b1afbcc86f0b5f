import { Schema } from "effect"
import { BackupId, CapsuleId, RunId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** A sealed export of a Workspace's or Capsule's records. */
export class Backup extends Schema.Opaque<Backup>()(
  Schema.Struct({
    id: BackupId,
    workspaceId: WorkspaceId,
    capsuleId: Schema.optionalKey(CapsuleId),
    digest: Schema.String,
    sizeBytes: Schema.Int,
    createdByRunId: RunId,
    createdAt: Timestamp
  }).annotate({ identifier: "Backup" })
) {}
