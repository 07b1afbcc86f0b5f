import { promisify } from "node:util"
import { constants, createZstdDecompress, zstdCompress, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { Cause, Effect, Option, Stream } from "effect"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import { mostInlineBytes } from "../../schema/agent/InlineFile.ts"
import { collectBefore, collectedGarbage } from "../execution/CollectedGarbage.ts"
import { NotSealedForThis, type SealedFor } from "./SealedMessage.ts"

/*
 * The contents of sealed blobs. A state, plan file, outcome or left-over is stored as one zstd frame, and a build as the
 * archive itself. `outcome` and `left_over` contain JSON.
 */

const compress = promisify(zstdCompress)

const level = 3

/** Maximum size to compress on the calling thread. For small contents, this is faster than switching to another thread. */
const mostAtOnce = mostInlineBytes

/** Compresses contents that are sealed as one piece. */
export const packContents = (plain: Uint8Array): Effect.Effect<Uint8Array> => {
  const options = { pledgedSrcSize: plain.length, params: { [constants.ZSTD_c_compressionLevel]: level } }
  const packed =
    plain.length > mostAtOnce
      ? Effect.promise(() => compress(plain, options))
      : Effect.sync(() => zstdCompressSync(plain, options))
  return Effect.map(packed, ({ buffer, byteOffset, length }) => new Uint8Array(buffer, byteOffset, length))
}

const mebibyte = 1024 * 1024
const unpackedAtOnce = mebibyte

/**
 * Largest window to accept. Level 3 uses a window of at most 2 MiB, and the reader would have to allocate any larger window that
 * a frame requests.
 */
const longestWindow = { [constants.ZSTD_d_windowLogMax]: 23 }

/** Contents up to this size may have any compression ratio. */
const mostOfAnyRatio = 64 * mebibyte
/**
 * Maximum compression ratio of larger contents. Without this limit, a few kilobytes could unpack to a gigabyte. States and
 * outcomes never compress that well, because their objects differ.
 */
const largestRatio = 1024

/** Returns the maximum unpacked size of a file with this packed size. `most` is the limit for files of this kind. */
export const mostUnpackedFrom = (packedBytes: number, most: number): number =>
  Math.min(most, Math.max(mostOfAnyRatio, packedBytes * largestRatio))

const damaged = () => new NotSealedForThis({ message: "The sealed contents are damaged or too large." })

const magic = 0xfd2fb528
const dictionaryBytes = [0, 1, 2, 4] as const

/**
 * Returns the length of a frame's contents from the frame's header, or `none` if the header contains no length. These bytes
 * must contain the complete header. Fails for bytes that are not a frame.
 */
const statedLength = (first: Uint8Array): Effect.Effect<Option.Option<number>, NotSealedForThis> => {
  const view = new DataView(first.buffer, first.byteOffset, first.length)
  if (first.length < 5 || view.getUint32(0, true) !== magic) return Effect.fail(damaged())
  const descriptor = view.getUint8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const at = 5 + (isSingleSegment ? 0 : 1) + (dictionaryBytes[descriptor & 3] ?? 0)
  const field = descriptor >> 6
  if (first.length < at + (field === 0 && !isSingleSegment ? 0 : 1 << field)) return Effect.fail(damaged())
  switch (field) {
    case 0:
      return Effect.succeed(isSingleSegment ? Option.some(view.getUint8(at)) : Option.none())
    case 1:
      return Effect.succeedSome(view.getUint16(at, true) + 256)
    case 2:
      return Effect.succeedSome(view.getUint32(at, true))
    default:
      return Effect.succeedSome(Number(view.getBigUint64(at, true)))
  }
}

/** Unpacks a frame piece by piece, and produces each piece only after the reader has taken the previous piece. */
const decompressor = Effect.gen(function* () {
  const zstd = yield* Effect.acquireRelease(
    Effect.sync(() => createZstdDecompress({ chunkSize: unpackedAtOnce, params: longestWindow })),
    (open) => Effect.sync(() => open.destroy())
  )
  let isBroken = false
  let isOver = false
  let hasEnded = false
  let written = 0
  let look = () => {}
  const over = () => {
    isOver = true
    look()
  }
  zstd.on("readable", () => look())
  zstd.on("end", () => {
    hasEnded = true
    over()
  })
  zstd.on("error", () => {
    isBroken = true
    look()
  })
  const next = Effect.callback<Uint8Array, NotSealedForThis | Cause.Done>((resume) => {
    const answer = (effect: Effect.Effect<Uint8Array, NotSealedForThis | Cause.Done>) => {
      look = () => {}
      resume(effect)
    }
    look = () => {
      if (isBroken) return answer(Effect.fail(damaged()))
      const piece: Uint8Array | null = zstd.read()
      if (piece !== null) return answer(Effect.succeed(piece))
      if (isOver) answer(Cause.done())
    }
    look()
  })
  /** Returns the output for these bytes. Call this function again only after consuming that output. */
  const write = (bytes: Uint8Array) =>
    Stream.suspend(() => {
      if (hasEnded) return Stream.fail(damaged())
      isOver = false
      written += bytes.length
      zstd.write(bytes, over)
      return Stream.fromEffectRepeat(next)
    })
  const end = Stream.suspend(() => {
    isOver = hasEnded
    zstd.end()
    return Stream.fromEffectRepeat(next)
  })
  // Fails if bytes follow the first frame. After the first frame, Node stops but Bun continues.
  const nothingLeft = Effect.suspend(() => (zstd.bytesWritten === written ? Effect.void : Effect.fail(damaged())))
  return { write, end, nothingLeft }
})

/**
 * Unpacks piece by piece, so that neither the packed nor the unpacked contents are ever completely in memory. Passes the
 * length that the header contains to `begins`. Fails if the contents are longer than `maxBytes` or do not match the length
 * in the header. Does not detect that a frame without a length was truncated, so the caller must compare the digest of the
 * contents or parse them to their end.
 */
export const unpackedContents = <E, R>(
  packed: Stream.Stream<Uint8Array, E, R>,
  maxBytes: number,
  begins: (length: number) => void = () => {}
): Stream.Stream<Uint8Array, E | NotSealedForThis, R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { end, nothingLeft, write } = yield* decompressor
      let stated: Option.Option<number> | undefined
      let length = 0
      const passed = collectedGarbage()
      const started = Effect.fnUntraced(function* (bytes: Uint8Array, index: number) {
        if (index > 0) return bytes
        stated = yield* statedLength(bytes)
        if (Option.isNone(stated)) return bytes
        if (stated.value > maxBytes) return yield* damaged()
        begins(stated.value)
        return bytes
      })
      const most = () => Option.getOrElse(stated ?? Option.none(), () => maxBytes)
      const counted = (piece: Uint8Array) =>
        Effect.suspend(() => {
          length += piece.length
          passed(piece.length)
          return length > most() ? Effect.fail(damaged()) : Effect.succeed(piece)
        })
      const whole = Effect.suspend(() =>
        stated !== undefined && length === Option.getOrElse(stated, () => length) ? Effect.void : Effect.fail(damaged())
      )
      return packed.pipe(
        Stream.filter((bytes) => bytes.length > 0),
        Stream.mapEffect(started),
        Stream.flatMap(write),
        Stream.concat(end),
        Stream.mapEffect(counted),
        Stream.concat(Stream.fromEffectDrain(Effect.andThen(nothingLeft, whole)))
      )
    })
  )

/**
 * Unpacks contents in memory, in one step if they are small and their header contains a length. Fails if the frame is
 * damaged, or if a second frame with contents follows, because the length then does not match. Does not detect other
 * trailing bytes.
 */
export const unpackedInMemory = Effect.fnUntraced(function* (
  packed: Uint8Array,
  maxBytes: number
): Effect.fn.Return<Uint8Array, NotSealedForThis> {
  const stated = yield* statedLength(packed)
  const length = Option.getOrElse(stated, () => 0)
  if (length === 0 || length > mostAtOnce) return yield* heldContents(Stream.make(packed), maxBytes)
  if (length > maxBytes) return yield* damaged()
  const plain = yield* Effect.try({
    try: () => zstdDecompressSync(packed, { maxOutputLength: length, params: longestWindow }),
    catch: damaged
  })
  return plain.length === length ? new Uint8Array(plain) : yield* damaged()
})

/** Unpacks contents into one array. Does not copy them if their header contains a length. */
export const heldContents = Effect.fnUntraced(function* <E, R>(
  packed: Stream.Stream<Uint8Array, E, R>,
  maxBytes: number
) {
  let whole: Uint8Array | undefined
  let at = 0
  const chunks: Array<Uint8Array> = []
  const pieces = unpackedContents(packed, maxBytes, (length) => {
    collectBefore(length)
    whole = new Uint8Array(length)
  })
  yield* Stream.runForEach(pieces, (piece) =>
    Effect.sync(() => {
      if (whole === undefined) return chunks.push(piece)
      whole.set(piece, at)
      at += piece.length
    })
  )
  return whole ?? new Uint8Array(Buffer.concat(chunks))
})

/** Returns the server's name as a party to a sealed message. */
export const serverParty = (installationId: string): string => `server:${installationId}`

/** Returns the purpose that is used to seal all data of one execution. `job` is the sealed job of an offer. */
export const sealedFor = (
  parties: { readonly from: string; readonly to: string },
  claim: { readonly runId: string; readonly fence: number },
  kind: Exclude<BlobKind, "snapshot"> | "job"
): SealedFor => ({ ...parties, runId: claim.runId, fence: claim.fence, kind })
