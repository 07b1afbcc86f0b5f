import { Schema } from "effect"
import {
  CapsuleId,
  InstallConfigId,
  OrphanedStateId,
  OutputId,
  RunId,
  SourceSnapshotId,
  StateUploadId,
  StateVersionId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

/** States, sealed. */
export const StateVersionRow = table("state_versions", {
  id: StateVersionId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  generation: Schema.Int,
  serial: Schema.Int,
  lineage: Schema.String,
  digest: Schema.String,
  resource_count: Schema.Int,
  size_bytes: Schema.Int,
  state: Schema.String,
  partial: Flag,
  source_snapshot_id: Schema.NullOr(SourceSnapshotId),
  install_config_id: InstallConfigId,
  created_by_run_id: RunId,
  created_at: Timestamp,
  build_digest: Schema.NullOr(Schema.String),
  build_size_bytes: Schema.NullOr(Schema.Int),
  sealed_secrets: Schema.NullOr(Schema.String),
  /** The left-over state that was adopted, if any. */
  left_over_state_id: Schema.NullOr(OrphanedStateId),
  /** The upload that the install took over, if any. */
  state_upload_id: Schema.NullOr(StateUploadId)
})
export type StateVersionRow = RowOf<typeof StateVersionRow.columns>

/** The columns that lists read. They exclude sealed values. */
export const ListedStateVersion = StateVersionRow.without("state", "sealed_secrets")
export type ListedStateVersion = RowOf<typeof ListedStateVersion.columns>

/** The stored type or value of an Output. */
export const OutputJson = jsonText(Schema.Json)
export const PrivateOriginsJson = jsonText(Schema.Array(Schema.String))

/** Outputs of a StateVersion. */
export const OutputRow = table("outputs", {
  id: OutputId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  state_version_id: StateVersionId,
  name: Schema.String,
  type: OutputJson,
  value: Schema.NullOr(OutputJson),
  sealed_value: Schema.NullOr(Schema.String),
  sensitive: Flag,
  /** If the Output is private because it repeats secrets, the origins of these secrets. */
  private_origins: Schema.NullOr(PrivateOriginsJson)
})
export type OutputRow = RowOf<typeof OutputRow.columns>
