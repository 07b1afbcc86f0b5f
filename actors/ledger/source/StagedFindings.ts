import { Schema } from "effect"
import { CommitDescription } from "../../../schema/records/Commit.ts"
import { CompatibilityReport } from "../../../schema/records/CompatibilityReport.ts"
import {
  CompatibilityReportId,
  InstallConfigId,
  RunId,
  SourceId,
  SourceSnapshotId
} from "../../../schema/records/Ids.ts"
import { OmittedSnapshotEntry, RepositoryManifestStatus } from "../../../schema/records/Source.ts"

/** The result of a sync Run before it becomes a SourceSnapshot; an install plan stores it until its initial commit. */
export const StagedSnapshot = Schema.Struct({
  id: SourceSnapshotId,
  url: Schema.String,
  ref: Schema.String,
  path: Schema.String,
  resolvedCommit: Schema.String,
  /** Addresses of the commit's authors; absent if an earlier release did not read them. */
  authors: Schema.optionalKey(Schema.Array(Schema.String)),
  commitDescription: Schema.optionalKey(CommitDescription),
  archiveDigest: Schema.String,
  archiveSizeBytes: Schema.Int,
  fileCount: Schema.Int,
  omitted: Schema.Array(OmittedSnapshotEntry),
  warnings: Schema.Array(Schema.String),
  repositoryManifest: RepositoryManifestStatus,
  /** The raw document, private. */
  manifestDocument: Schema.optionalKey(Schema.String),
  createdByRunId: RunId,
  createdAt: Schema.String
})
export type StagedSnapshot = typeof StagedSnapshot.Type

/** The result of a compatibility check before it becomes a report of a Source. */
export const StagedReport = Schema.Struct({
  report: Schema.Struct({
    ...CompatibilityReport.fields,
    id: CompatibilityReportId,
    sourceId: SourceId,
    sourceSnapshotId: SourceSnapshotId,
    installConfigId: Schema.optionalKey(InstallConfigId),
    createdByRunId: RunId
  }),
  /** The complete scan of the module, as needed by plan and apply. */
  moduleScan: Schema.Json,
  /** Digest over names, basic types and default markers: what later configuration changes are checked against. */
  contractDigest: Schema.String
})
export type StagedReport = typeof StagedReport.Type

export const StagedSnapshotJson = Schema.fromJsonString(StagedSnapshot)
export const StagedReportJson = Schema.fromJsonString(StagedReport)
