import { Schema } from "effect"
import { OmittedSnapshotEntry, RepositoryManifestStatus } from "../../schema/records/Source.ts"
import type { StagedSnapshot } from "./StagedFindings.ts"
import type { SnapshotRow } from "./SourceRow.ts"

const decodeManifest = Schema.decodeUnknownSync(Schema.fromJsonString(RepositoryManifestStatus))
const decodeOmitted = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(OmittedSnapshotEntry)))
const decodeWarnings = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Schema.String)))

/** A stored snapshot in the form that checks and commits take. */
export const stagedOf = (row: SnapshotRow): StagedSnapshot => ({
  id: row.id,
  url: row.url,
  ref: row.ref,
  path: row.path,
  resolvedCommit: row.resolved_commit,
  archiveDigest: row.archive_digest,
  archiveSizeBytes: row.archive_size_bytes,
  fileCount: row.file_count,
  omitted: decodeOmitted(row.omitted),
  warnings: decodeWarnings(row.warnings),
  repositoryManifest: decodeManifest(row.repository_manifest),
  ...(row.manifest_document === null ? {} : { manifestDocument: row.manifest_document }),
  createdByRunId: row.created_by_run_id,
  createdAt: row.created_at
})
