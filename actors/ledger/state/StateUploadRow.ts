import { Schema } from "effect"
import { InstallPlanId, StateUploadId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { ImportedFrom } from "../../../schema/records/ImportedFrom.ts"
import { StateUpload } from "../../../schema/records/StateUpload.ts"
import { jsonText, storedRecord } from "../../base/database/StoredRecord.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

export const ImportedFromJson = jsonText(ImportedFrom)

/** States uploaded for an install to take over. */
export const StateUploadRow = table("state_uploads", {
  id: StateUploadId,
  workspace_id: WorkspaceId,
  sha256: Schema.String,
  size_bytes: Schema.Int,
  lineage: Schema.String,
  serial: Schema.Int,
  resource_count: Schema.Int,
  tool_version: Schema.NullOr(Schema.String),
  /** Sealed; `NULL` once it has become a StateVersion. */
  state: Schema.NullOr(Schema.String),
  /** The install that holds the upload. */
  install_plan_id: Schema.NullOr(InstallPlanId),
  created_by: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Schema.NullOr(Timestamp),
  /** For a state from another installation's backup: its origin, and the rest of the backup's contents, sealed. */
  imported_from: Schema.NullOr(ImportedFromJson),
  sealed_secrets: Schema.NullOr(Schema.String)
})
export type StateUploadRow = RowOf<typeof StateUploadRow.columns>

/** Everything except the sealed columns. */
export const ListedStateUpload = StateUploadRow.without("state", "sealed_secrets")
export type ListedStateUpload = RowOf<typeof ListedStateUpload.columns>

const decodeUpload = storedRecord(StateUpload)

/** The public projection of an upload. */
export const toStateUpload = (row: ListedStateUpload): StateUpload =>
  decodeUpload({
    id: row.id,
    workspaceId: row.workspace_id,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    lineage: row.lineage,
    serial: row.serial,
    resourceCount: row.resource_count,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(row.tool_version === null ? {} : { toolVersion: row.tool_version }),
    ...(row.imported_from === null ? {} : { importedFrom: ImportedFromJson.parse(row.imported_from) })
  })
