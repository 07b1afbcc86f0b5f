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

/** The result of a sync before it becomes a SourceSnapshot. An install plan keeps it until the initial commit. */
export const StagedSnapshot = Schema.Struct({
  id: SourceSnapshotId,
  url: Schema.String,
  ref: Schema.String,
  path: Schema.String,
  resolvedCommit: Schema.String,
  /** Email addresses of the commit's authors; absent in results from releases that did not read them. */
  authors: Schema.optionalKey(Schema.Array(Schema.String)),
  commitDescription: Schema.optionalKey(CommitDescription),
  archiveDigest: Schema.String,
  archiveSizeBytes: Schema.Int,
  fileCount: Schema.Int,
  omitted: Schema.Array(OmittedSnapshotEntry),
  warnings: Schema.Array(Schema.String),
  repositoryManifest: RepositoryManifestStatus,
  /** The manifest's text, which is private. */
  manifestDocument: Schema.optionalKey(Schema.String),
  createdByRunId: RunId,
  createdAt: Schema.String
})
export type StagedSnapshot = typeof StagedSnapshot.Type

/** The result of a compatibility check, before it is stored as a Source's report. */
export const StagedReport = Schema.Struct({
  report: Schema.Struct({
    ...CompatibilityReport.fields,
    id: CompatibilityReportId,
    sourceId: SourceId,
    sourceSnapshotId: SourceSnapshotId,
    installConfigId: Schema.optionalKey(InstallConfigId),
    createdByRunId: RunId
  }),
  /** The complete module scan, which plan and apply use. */
  moduleScan: Schema.Json,
  /**
   * Digest of the inputs' names, basic types and flags, such as whether an input has a default. Later configuration changes
   * are checked against this digest.
   */
  contractDigest: Schema.String
})
export type StagedReport = typeof StagedReport.Type

export const StagedSnapshotJson = Schema.fromJsonString(StagedSnapshot)
export const StagedReportJson = Schema.fromJsonString(StagedReport)
