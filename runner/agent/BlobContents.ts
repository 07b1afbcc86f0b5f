import { promisify } from "node:util"
import { constants, createZstdDecompress, zstdCompress } from "node:zlib"
import { Deferred, Effect, Stream } from "effect"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import { NotSealedForThis, type SealedFor } from "./SealedMessage.ts"

/*
 * The contents of sealed blobs: a state, plan file, outcome or left-over is one zstd frame; a build is the archive itself.
 * The contents of `outcome` and `left_over` are JSON.
 */

const compress = promisify(zstdCompress)

const level = 3

/** Compresses contents that are sealed as a whole. */
export const packContents = (plain: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.promise(() => compress(plain, { params: { [constants.ZSTD_c_compressionLevel]: level } })).pipe(
    Effect.map(({ buffer, byteOffset, length }) => new Uint8Array(buffer, byteOffset, length))
  )

const unpackedAtOnce = 1024 * 1024

const damaged = () => new NotSealedForThis({ message: "The sealed contents are damaged or too large." })

/**
 * The reverse, piece by piece, so that nobody has to hold both forms. It fails beyond `maxBytes`, and does not notice a frame that ends too early:
 * whoever reads contents compares their digest, or reads them to their own end.
 */
export const unpackedContents = <E, R>(
  packed: Stream.Stream<Uint8Array, E, R>,
  maxBytes: number
): Stream.Stream<Uint8Array, E | NotSealedForThis, R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const zstd = yield* Effect.acquireRelease(
        Effect.sync(() => createZstdDecompress({ chunkSize: unpackedAtOnce })),
        (open) => Effect.sync(() => open.destroy())
      )
      let ready: Array<Uint8Array> = []
      let left = maxBytes
      const broken = yield* Deferred.make<never, NotSealedForThis>()
      zstd.on("error", () => Deferred.doneUnsafe(broken, Effect.fail(damaged())))
      zstd.on("data", (chunk: Uint8Array) => {
        left -= chunk.length
        if (left < 0) zstd.destroy(new RangeError("More than is taken"))
        else ready.push(chunk)
      })
      const taken = Effect.sync(() => {
        const chunks = ready
        ready = []
        return chunks
      })
      const write = (bytes: Uint8Array) =>
        Effect.callback<void, NotSealedForThis>((resume) => {
          zstd.write(bytes, (error) => resume(error == null ? Effect.void : Effect.fail(damaged())))
        })
      const end = Effect.callback<void>((resume) => {
        zstd.once("end", () => resume(Effect.void))
        zstd.end()
      })
      const whole = <A>(effect: Effect.Effect<A, NotSealedForThis>) => Effect.raceFirst(effect, Deferred.await(broken))
      return packed.pipe(
        Stream.filter(({ length }) => length > 0),
        Stream.mapEffect((bytes) => Effect.andThen(whole(write(bytes)), taken)),
        Stream.concat(Stream.fromEffect(Effect.andThen(whole(end), taken))),
        Stream.flattenIterable
      )
    })
  )

/** Contents that can be read twice, as one array. Their length is counted first, so that there is never a second copy of them. */
export const heldContents = Effect.fnUntraced(function* <E, R>(contents: Stream.Stream<Uint8Array, E, R>) {
  const whole = new Uint8Array(
    yield* Stream.runFold(
      contents,
      () => 0,
      (length, chunk) => length + chunk.length
    )
  )
  let at = 0
  yield* Stream.runForEach(contents, (chunk) =>
    Effect.sync(() => {
      whole.set(chunk, at)
      at += chunk.length
    })
  )
  return whole
})

/** The server as a party of a sealed message. */
export const serverParty = (installationId: string): string => `server:${installationId}`

/** The purpose of everything that is sealed for one execution; `job` is the sealed job of an offer. */
export const sealedFor = (
  parties: { readonly from: string; readonly to: string },
  claim: { readonly runId: string; readonly fence: number },
  kind: Exclude<BlobKind, "snapshot"> | "job"
): SealedFor => ({ ...parties, runId: claim.runId, fence: claim.fence, kind })
