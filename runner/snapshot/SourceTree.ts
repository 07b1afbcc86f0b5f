import { type Effect, Schema } from "effect"

/** A regular file of a source tree. `path` is relative to the root, with `/` between segments. */
export interface SourceFile {
  readonly path: string
  readonly sizeBytes: number
  readonly executable: boolean
}

/** An entry of the commit that the tree omits because it is not a regular file. */
export const OmittedEntry = Schema.Struct({
  path: Schema.String,
  kind: Schema.Literals(["symlink", "submodule", "special"])
})
export type OmittedEntry = typeof OmittedEntry.Type

/** The file is not in the tree, or its bytes could not be read. */
export class SourceFileUnreadable extends Schema.TaggedError<SourceFileUnreadable>()("SourceFileUnreadable", {
  path: Schema.String,
  message: Schema.String
}) {}

/**
 * The read-only tree of one commit, from which svc scans modules and reads the manifest. Files are sorted by the bytes of
 * their paths. The tree comes from a snapshot archive or, for `svc scan DIR`, from a folder.
 */
export interface SourceTree {
  readonly files: ReadonlyArray<SourceFile>
  readonly omitted: ReadonlyArray<OmittedEntry>
  readonly read: (path: string) => Effect.Effect<Uint8Array, SourceFileUnreadable>
}
