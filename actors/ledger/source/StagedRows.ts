import {
  AuthorsJson,
  CommitDescriptionJson,
  ManifestStatusJson,
  OmittedJson,
  type SnapshotRow,
  WarningsJson
} from "./SourceRow.ts"
import type { StagedSnapshot } from "./StagedFindings.ts"

/** Converts a stored snapshot to the form that checks and commits use. */
export const stagedOf = (row: SnapshotRow): StagedSnapshot => ({
  id: row.id,
  url: row.url,
  ref: row.ref,
  path: row.path,
  resolvedCommit: row.resolved_commit,
  ...(row.authors === null ? {} : { authors: AuthorsJson.read(row.authors) }),
  ...(row.commit_description === null ? {} : { commitDescription: CommitDescriptionJson.read(row.commit_description) }),
  archiveDigest: row.archive_digest,
  archiveSizeBytes: row.archive_size_bytes,
  fileCount: row.file_count,
  omitted: OmittedJson.read(row.omitted),
  warnings: WarningsJson.read(row.warnings),
  repositoryManifest: ManifestStatusJson.read(row.repository_manifest),
  ...(row.manifest_document === null ? {} : { manifestDocument: row.manifest_document }),
  createdByRunId: row.created_by_run_id,
  createdAt: row.created_at
})
