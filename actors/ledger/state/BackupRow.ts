import { Schema } from "effect"
import { BackupId, CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Backups of a Workspace. */
export const BackupRow = table("backups", {
  id: BackupId,
  workspace_id: WorkspaceId,
  capsule_id: Schema.NullOr(CapsuleId),
  digest: Schema.String,
  size_bytes: Schema.Int,
  archive: Schema.String,
  created_by_run_id: RunId,
  created_at: Timestamp
})
export type BackupRow = RowOf<typeof BackupRow.columns>

/** A backup without its archive. */
export const ListedBackup = BackupRow.without("archive")
export type ListedBackup = RowOf<typeof ListedBackup.columns>
