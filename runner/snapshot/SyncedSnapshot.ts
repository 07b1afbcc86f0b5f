import { Schema } from "effect"
import { CommitDescription } from "../../schema/records/Commit.ts"
import { OmittedEntry } from "./SourceTree.ts"

/** Only repository manifests of at most this many bytes are passed on. */
export const manifestMaxBytes = 128 * 1024

/** The `.well-known/svc.json` in the commit's root, independent of the synced folder. */
export const FoundManifest = Schema.Union([
  Schema.Struct({ status: Schema.Literal("absent") }),
  Schema.Struct({ status: Schema.Literal("refused"), reason: Schema.String }),
  Schema.Struct({ status: Schema.Literal("present"), bytes: Schema.Uint8ArrayFromBase64 })
])
export type FoundManifest = typeof FoundManifest.Type

/** A stored commit, or a folder in one; it never changes. Sizes are in bytes. */
export const SyncedSnapshot = Schema.Struct({
  resolvedCommit: Schema.String,
  /** Addresses of the commit's authors. */
  authors: Schema.Array(Schema.String),
  commitDescription: CommitDescription,
  /** The ref that was resolved, e.g. `refs/heads/main`; absent when a commit was requested. */
  fullRef: Schema.optionalKey(Schema.String),
  /** `sha256:` of the uncompressed archive. */
  archiveDigest: Schema.String,
  /** Size of the uncompressed archive. */
  archiveSizeBytes: Schema.Int,
  fileCount: Schema.Int,
  omitted: Schema.Array(OmittedEntry),
  /** Messages for the user, e.g. about files that are only Git LFS pointers. */
  warnings: Schema.Array(Schema.String),
  repositoryManifest: FoundManifest
})
export type SyncedSnapshot = typeof SyncedSnapshot.Type
