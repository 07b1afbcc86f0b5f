import { promisify } from "node:util"
import { constants, createZstdDecompress, zstdCompress } from "node:zlib"
import { Deferred, Effect, Stream } from "effect"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import { collectedGarbage } from "../execution/CollectedGarbage.ts"
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
 * The reverse, piece by piece, so that nobody has to hold both forms. It fails beyond `maxBytes`. A frame that ends too early is not noticed here:
 * whoever uses the contents compares their digest, or reads them to their own end.
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
      const passed = collectedGarbage()
      const broken = yield* Deferred.make<never, NotSealedForThis>()
      zstd.on("error", () => Deferred.doneUnsafe(broken, Effect.fail(damaged())))
      zstd.on("data", (chunk: Uint8Array) => {
        left -= chunk.length
        passed(chunk.length)
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

const magic = 0xfd2fb528
const dictionaryBytes = [0, 1, 2, 4] as const

/** How long the contents of a frame are by its header; undefined where that does not say it, or says it in a form that nobody here writes. */
const statedLength = (packed: Uint8Array): number | undefined => {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  const shortest = 18
  if (packed.length < shortest || view.getUint32(0, true) !== magic) return undefined
  const descriptor = view.getUint8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const at = 5 + (isSingleSegment ? 0 : 1) + (dictionaryBytes[descriptor & 3] ?? 0)
  switch (descriptor >> 6) {
    case 2:
      return view.getUint32(at, true)
    case 3:
      return Number(view.getBigUint64(at, true))
    default:
      return undefined
  }
}

/** Unpacks contents into one array. Where they say how long they are, there is never a second copy of them. */
export const heldContents = Effect.fnUntraced(function* <E, R>(
  packed: Stream.Stream<Uint8Array, E, R>,
  maxBytes: number
) {
  let whole: Uint8Array | undefined
  let length = 0
  const chunks: Array<Uint8Array> = []
  const measured = packed.pipe(
    Stream.filter((chunk) => chunk.length > 0),
    Stream.mapEffect((chunk, index) => {
      const stated = index === 0 ? statedLength(chunk) : undefined
      if (stated === undefined) return Effect.succeed(chunk)
      if (stated > maxBytes) return Effect.fail(damaged())
      whole = new Uint8Array(stated)
      return Effect.succeed(chunk)
    })
  )
  yield* Stream.runForEach(unpackedContents(measured, maxBytes), (chunk) => {
    const at = length
    length += chunk.length
    if (whole === undefined) chunks.push(chunk)
    else if (length > whole.length) return Effect.fail(damaged())
    else whole.set(chunk, at)
    return Effect.void
  })
  if (whole !== undefined && length < whole.length) return yield* damaged()
  return whole ?? new Uint8Array(Buffer.concat(chunks))
})

/** The server as a party of a sealed message. */
export const serverParty = (installationId: string): string => `server:${installationId}`

/** The purpose of everything that is sealed for one execution; `job` is the sealed job of an offer. */
export const sealedFor = (
  parties: { readonly from: string; readonly to: string },
  claim: { readonly runId: string; readonly fence: number },
  kind: Exclude<BlobKind, "snapshot"> | "job"
): SealedFor => ({ ...parties, runId: claim.runId, fence: claim.fence, kind })
