import { Schema } from "effect"
import {
  CapsuleId,
  CompatibilityReportId,
  ConnectionId,
  InstallConfigId,
  ProviderBindingId,
  SourceSnapshotId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Immutable configurations of a module. */
export const InstallConfigRow = table("install_configs", {
  id: InstallConfigId,
  workspace_id: WorkspaceId,
  capsule_id: Schema.NullOr(CapsuleId),
  origin: Schema.Literals(["operator", "repository_manifest", "generic"]),
  module_path: Schema.String,
  source_snapshot_id: Schema.NullOr(SourceSnapshotId),
  compatibility_report_id: Schema.NullOr(CompatibilityReportId),
  contract_digest: Schema.String,
  digest: Schema.String,
  config: Schema.String,
  private_variables: Schema.NullOr(Schema.String),
  predecessor_id: Schema.NullOr(InstallConfigId),
  created_at: Timestamp
})
export type InstallConfigRow = RowOf<typeof InstallConfigRow.columns>

/** What lists show: no private values. */
export const ListedConfig = InstallConfigRow.without("private_variables")
export type ListedConfig = RowOf<typeof ListedConfig.columns>

/** Which Connection serves which provider in a configuration. */
export const ProviderBindingRow = table("provider_bindings", {
  id: ProviderBindingId,
  workspace_id: WorkspaceId,
  install_config_id: InstallConfigId,
  provider: Schema.String,
  module_local_name: Schema.String,
  child_alias: Schema.NullOr(Schema.String),
  connection_id: ConnectionId
})
export type ProviderBindingRow = RowOf<typeof ProviderBindingRow.columns>
