import { promisify } from "node:util"
import { constants, zstdCompress, zstdDecompress } from "node:zlib"
import { Effect } from "effect"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import { NotSealedForThis, type SealedFor } from "./SealedMessage.ts"

/*
 * The contents of sealed blobs: a state, plan file, outcome or left-over is one zstd frame; a build is the archive itself.
 * The contents of `outcome` and `left_over` are JSON.
 */

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const level = 3

/** Compresses contents that are sealed as a whole. */
export const packContents = (plain: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.promise(() => compress(plain, { params: { [constants.ZSTD_c_compressionLevel]: level } })).pipe(
    Effect.map((packed) => new Uint8Array(packed))
  )

/** The reverse. Contents larger than `maxBytes` are refused before they are unpacked. */
export const unpackContents = (packed: Uint8Array, maxBytes: number): Effect.Effect<Uint8Array, NotSealedForThis> =>
  Effect.tryPromise({
    try: () => decompress(packed, { maxOutputLength: maxBytes }),
    catch: () => new NotSealedForThis({ message: "The sealed contents are damaged or too large." })
  }).pipe(Effect.map((plain) => new Uint8Array(plain)))

/** The server as a party of a sealed message. */
export const serverParty = (installationId: string): string => `server:${installationId}`

/** The purpose of everything that is sealed for one execution; `job` is the sealed job of an offer. */
export const sealedFor = (
  parties: { readonly from: string; readonly to: string },
  claim: { readonly runId: string; readonly fence: number },
  kind: Exclude<BlobKind, "snapshot"> | "job"
): SealedFor => ({ ...parties, runId: claim.runId, fence: claim.fence, kind })
