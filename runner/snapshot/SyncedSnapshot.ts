import { Schema } from "effect"
import { OmittedEntry } from "./SourceTree.ts"

/** The repository manifest of at most this many bytes is handed on. */
export const manifestMaxBytes = 128 * 1024

/** What the commit has at `.well-known/svc.json` of its root, whatever folder was synced. */
export const FoundManifest = Schema.Union([
  Schema.Struct({ status: Schema.Literal("absent") }),
  Schema.Struct({ status: Schema.Literal("refused"), reason: Schema.String }),
  Schema.Struct({ status: Schema.Literal("present"), bytes: Schema.Uint8ArrayFromBase64 })
])
export type FoundManifest = typeof FoundManifest.Type

/** A commit, or a folder of one, that is stored and will never change. Sizes are bytes. */
export const SyncedSnapshot = Schema.Struct({
  resolvedCommit: Schema.String,
  /** What the ref stood for, e.g. `refs/heads/main`; absent when a commit was asked for. */
  fullRef: Schema.optionalKey(Schema.String),
  /** `sha256:` of the uncompressed archive. */
  archiveDigest: Schema.String,
  /** Of the uncompressed archive. */
  archiveSizeBytes: Schema.Int,
  fileCount: Schema.Int,
  omitted: Schema.Array(OmittedEntry),
  /** Sentences for the user, e.g. about files that are only Git LFS pointers. */
  warnings: Schema.Array(Schema.String),
  repositoryManifest: FoundManifest
})
export type SyncedSnapshot = typeof SyncedSnapshot.Type
