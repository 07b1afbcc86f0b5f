import { Schema } from "effect"
import { Digest } from "./Blob.ts"

/**
 * The capability to take small files within the message that names them. Neither side sends any to a peer without it: such a peer's files, and
 * larger ones, are transferred on their own.
 */
export const carriesFiles = "carried-files"

/** How many bytes of sealed files a message carries at most. Larger ones would delay what else is on the line, and could not be resumed. */
export const mostCarriedBytes = 256 * 1024

/**
 * A sealed file within a message. `digest` is that under which the message names it: of the contents in an offer, of the sealed bytes in what
 * an agent says.
 */
export const CarriedFile = Schema.Struct({
  kind: Schema.Literals(["state", "plan_file", "outcome"]),
  digest: Digest,
  bytes: Schema.Uint8ArrayFromBase64.check(Schema.makeFilter(({ length }) => length <= mostCarriedBytes))
})
export type CarriedFile = typeof CarriedFile.Type

/** One of each kind at most. */
export const CarriedFiles = Schema.Array(CarriedFile).check(
  Schema.makeFilter((files) => new Set(files.map(({ kind }) => kind)).size === files.length)
)

/** Those of these files that fit into one message, in their order. */
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
