import { Schema } from "effect"
import { Digest } from "./Blob.ts"

/**
 * The capability to accept small files inside the message that refers to them. Neither side sends such files to a peer without
 * it: that peer's files, and larger ones, are transferred separately.
 */
export const carriesFiles = "carried-files"

/**
 * Maximum size of the sealed files in one message, in bytes. Larger ones would delay everything else on the connection, and could
 * not be resumed.
 */
export const mostCarriedBytes = 256 * 1024

/**
 * A sealed file inside a message. `digest` is the digest by which the message refers to it: in an offer, that of the contents; in
 * an agent's message, that of the sealed bytes.
 */
export const CarriedFile = Schema.Struct({
  kind: Schema.Literals(["state", "plan_file", "outcome"]),
  digest: Digest,
  bytes: Schema.Uint8ArrayFromBase64.check(Schema.makeFilter(({ length }) => length <= mostCarriedBytes))
})
export type CarriedFile = typeof CarriedFile.Type

/** At most one of each kind. */
export const InlineFiles = Schema.Array(CarriedFile).check(
  Schema.makeFilter((files) => new Set(files.map(({ kind }) => kind)).size === files.length)
)

/** The files that fit into one message, in their original order. */
export const carriable = <File extends { readonly bytes: Uint8Array }>(
  files: ReadonlyArray<File>
): ReadonlyArray<File> => {
  let bytes = 0
  return files.filter((file) => {
    const fits = bytes + file.bytes.length <= mostCarriedBytes
    if (fits) bytes += file.bytes.length
    return fits
  })
}
