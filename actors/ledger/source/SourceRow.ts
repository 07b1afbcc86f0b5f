import { Schema } from "effect"
import {
  CompatibilityReportId,
  ConnectionId,
  InstallConfigId,
  RunId,
  SourceId,
  SourceSnapshotId,
  Subject,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { CommitDescription } from "../../../schema/records/Commit.ts"
import { CompatibilityReport } from "../../../schema/records/CompatibilityReport.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import {
  deliveryVerdicts,
  OmittedSnapshotEntry,
  PullRequestPolicy,
  RepositoryManifestStatus
} from "../../../schema/records/Source.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

export const ReviewedRefsJson = jsonText(Schema.Array(Schema.String))

/** Git repositories. */
export const SourceRow = table(
  "sources",
  {
    id: SourceId,
    workspace_id: WorkspaceId,
    name: Schema.String,
    url: Schema.String,
    default_ref: Schema.String,
    default_path: Schema.String,
    auth_connection_id: Schema.NullOr(ConnectionId),
    forge_connection_id: Schema.NullOr(ConnectionId),
    auto_sync: Flag,
    status: Schema.Literals(["active", "disabled", "error"]),
    hook_secret: Schema.String,
    last_synced_at: Schema.NullOr(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
    hook_secret_version: Schema.Int,
    hook_secret_at: Schema.NullOr(Timestamp),
    former_hook_secret: Schema.NullOr(Schema.String),
    former_hook_secret_until: Schema.NullOr(Timestamp),
    /** The person who attached the Connection. Automatic syncs use this person's authority. */
    auth_connection_by: Schema.NullOr(Schema.String),
    /** True if an owner or admin set the default ref, or if it is the repository's default branch. */
    default_ref_by_manager: Flag,
    removed_at: Schema.NullOr(Timestamp),
    /** The sync that ended without having read the Source; set while svc must still decide about removing the Source. */
    unread_due: Schema.NullOr(RunId),
    /** Additional refs whose plans may decrypt private data. */
    reviewed_refs: ReviewedRefsJson,
    last_delivery_at: Schema.NullOr(Timestamp),
    last_delivery_verdict: Schema.NullOr(Schema.Literals(deliveryVerdicts)),
    last_delivery_runs: Schema.NullOr(Schema.Int),
    pull_requests: PullRequestPolicy,
    /** The person who last set `pull_requests`. */
    pull_requests_by: Schema.NullOr(Subject)
  },
  ["hook_secret_version", "default_ref_by_manager", "reviewed_refs", "pull_requests"]
)
export type SourceRow = RowOf<typeof SourceRow.columns>

/** The columns that lists read. They exclude sealed values. */
export const ListedSource = SourceRow.without("hook_secret", "former_hook_secret")
export type ListedSource = RowOf<typeof ListedSource.columns>

export const OmittedJson = jsonText(Schema.Array(OmittedSnapshotEntry))
export const ManifestStatusJson = jsonText(RepositoryManifestStatus)
export const WarningsJson = jsonText(Schema.Array(Schema.String))
export const CommitDescriptionJson = jsonText(CommitDescription)
export const AuthorsJson = jsonText(Schema.Array(Schema.String))

/** Immutable snapshots of Sources. */
export const SnapshotRow = table("source_snapshots", {
  id: SourceSnapshotId,
  workspace_id: WorkspaceId,
  source_id: SourceId,
  url: Schema.String,
  ref: Schema.String,
  resolved_commit: Schema.String,
  path: Schema.String,
  archive_digest: Schema.String,
  archive_size_bytes: Schema.Int,
  file_count: Schema.Int,
  omitted: OmittedJson,
  repository_manifest: ManifestStatusJson,
  manifest_document: Schema.NullOr(Schema.String),
  warnings: WarningsJson,
  created_by_run_id: RunId,
  created_at: Timestamp,
  authors: Schema.NullOr(AuthorsJson),
  commit_description: Schema.NullOr(CommitDescriptionJson)
})
export type SnapshotRow = RowOf<typeof SnapshotRow.columns>

/** The columns that lists read. They include the manifest's status but not its content. */
export const ListedSnapshot = SnapshotRow.without("manifest_document", "warnings", "authors")
export type ListedSnapshot = RowOf<typeof ListedSnapshot.columns>

export const ReportJson = jsonText(CompatibilityReport)
/** The complete scan of a module. */
export const ModuleScanJson = jsonText(Schema.Json)

/** Compatibility reports. Each contains the findings about one module of a snapshot. */
export const ReportRow = table("compatibility_reports", {
  id: CompatibilityReportId,
  workspace_id: WorkspaceId,
  source_id: SourceId,
  source_snapshot_id: SourceSnapshotId,
  module_path: Schema.String,
  status: Schema.Literals(["ready", "needs_attention", "unsupported"]),
  report: ReportJson,
  module_scan: ModuleScanJson,
  contract_digest: Schema.String,
  install_config_id: Schema.NullOr(InstallConfigId),
  created_by_run_id: RunId,
  created_at: Timestamp
})
export type ReportRow = RowOf<typeof ReportRow.columns>

/** Accepted webhook deliveries. */
export const WebhookDeliveryRow = table("webhook_deliveries", {
  source_id: SourceId,
  delivery_id: Schema.String,
  received_at: Timestamp
})
export type WebhookDeliveryRow = RowOf<typeof WebhookDeliveryRow.columns>
