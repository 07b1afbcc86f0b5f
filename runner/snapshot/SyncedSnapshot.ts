import { Schema } from "effect"
import { CommitDescription } from "../../schema/records/Commit.ts"
import { OmittedEntry } from "./SourceTree.ts"

/** Maximum size in bytes of a repository manifest. Larger manifests are not read. */
export const manifestMaxBytes = 128 * 1024

/** The file `.well-known/svc.json` in the root of the commit, regardless of which folder is synced. */
export const FoundManifest = Schema.Union([
  Schema.Struct({ status: Schema.Literal("absent") }),
  Schema.Struct({ status: Schema.Literal("refused"), reason: Schema.String }),
  Schema.Struct({ status: Schema.Literal("present"), bytes: Schema.Uint8ArrayFromBase64 })
])
export type FoundManifest = typeof FoundManifest.Type

/** A stored commit, or a stored folder of a commit. It never changes. Sizes are in bytes. */
export const SyncedSnapshot = Schema.Struct({
  resolvedCommit: Schema.String,
  /** Email addresses of the commit's authors. */
  authors: Schema.Array(Schema.String),
  commitDescription: CommitDescription,
  /** The resolved ref, such as `refs/heads/main`; absent if a commit id was requested. */
  fullRef: Schema.optionalKey(Schema.String),
  /** Digest (`sha256:`) of the uncompressed archive. */
  archiveDigest: Schema.String,
  /** Size of the uncompressed archive. */
  archiveSizeBytes: Schema.Int,
  fileCount: Schema.Int,
  omitted: Schema.Array(OmittedEntry),
  /** Human-readable messages, for example about files that are only Git LFS pointers. */
  warnings: Schema.Array(Schema.String),
  repositoryManifest: FoundManifest
})
export type SyncedSnapshot = typeof SyncedSnapshot.Type
