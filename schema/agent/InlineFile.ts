import { Schema } from "effect"
import { Digest } from "./Blob.ts"

/**
 * Capability to accept small files inside the message that refers to them. Larger files, and all files for a peer without
 * this capability, are transferred separately.
 */
export const inlineFilesCapability = "carried-files"

/**
 * Maximum size in bytes of the sealed files in one message. Larger files would delay everything else on the connection, and could
 * not be resumed.
 */
export const mostInlineBytes = 256 * 1024

/**
 * A sealed file inside a message. `digest` identifies the file in the message: in an offer, it is the digest of the
 * contents; in a message from an agent, the digest of the sealed bytes.
 */
export const InlineFile = Schema.Struct({
  kind: Schema.Literals(["state", "plan_file", "outcome"]),
  digest: Digest,
  bytes: Schema.Uint8ArrayFromBase64.check(Schema.makeFilter(({ length }) => length <= mostInlineBytes))
})
export type InlineFile = typeof InlineFile.Type

/** Contains at most one file of each kind. */
export const InlineFiles = Schema.Array(InlineFile).check(
  Schema.makeFilter((files) => new Set(files.map(({ kind }) => kind)).size === files.length)
)

/** Selects the files that fit into one message, in their original order. */
export const fittingFiles = <File extends { readonly bytes: Uint8Array }>(
  files: ReadonlyArray<File>
): ReadonlyArray<File> => {
  let bytes = 0
  return files.filter((file) => {
    const fits = bytes + file.bytes.length <= mostInlineBytes
    if (fits) bytes += file.bytes.length
    return fits
  })
}
