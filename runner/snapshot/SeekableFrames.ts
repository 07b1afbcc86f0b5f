import { Result } from "effect"
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"

/**
 * Maximum uncompressed size of a frame. To allow random access, a file consists of independent zstd frames. They are
 * followed by a skippable frame, which ordinary zstd programs ignore, with the seek table of the "zstd seekable format".
 */
export const frameBytes = 1024 * 1024

const level = 3
/**
 * Largest window to accept. A frame is at most 1 MiB long, and the reader would have to allocate any larger window that a
 * frame requests.
 */
const longestWindowLog = 23
const skippableMagic = 0x184d2a5e
const seekableMagic = 0x8f92eab1
const headerBytes = 8
const footerBytes = 9
const entryBytes = 8
/** Maximum number of frames. An archive with more frames would be terabytes in size. */
const maxFrames = 1_000_000

/** A frame: its position in the file, and the position of its contents in the uncompressed data. */
export interface Frame {
  readonly at: number
  readonly compressedBytes: number
  readonly offset: number
  readonly bytes: number
}

export const compressFrame = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, {
    params: { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: 0 }
  })

/** Decompresses a frame. Fails unless it contains exactly the declared number of bytes. */
export const decompressFrame = (frame: Frame, compressed: Uint8Array): Result.Result<Uint8Array, string> =>
  Result.try({
    try: () =>
      zstdDecompressSync(compressed, {
        maxOutputLength: Math.max(frame.bytes, 1),
        params: { [constants.ZSTD_d_windowLogMax]: longestWindowLog }
      }),
    catch: () => "a part cannot be decompressed"
  }).pipe(
    Result.flatMap((bytes) =>
      bytes.length === frame.bytes ? Result.succeed(bytes) : Result.fail("a part has the wrong size")
    )
  )

/** Creates the seek table that belongs at the end of a file with these frames. */
export const encodeSeekTable = (frames: ReadonlyArray<Pick<Frame, "compressedBytes" | "bytes">>): Uint8Array => {
  const contentBytes = frames.length * entryBytes + footerBytes
  const table = Buffer.alloc(headerBytes + contentBytes)
  table.writeUInt32LE(skippableMagic, 0)
  table.writeUInt32LE(contentBytes, 4)
  for (const [index, frame] of frames.entries()) {
    table.writeUInt32LE(frame.compressedBytes, headerBytes + index * entryBytes)
    table.writeUInt32LE(frame.bytes, headerBytes + index * entryBytes + 4)
  }
  table.writeUInt32LE(frames.length, table.length - footerBytes)
  table.writeUInt32LE(seekableMagic, table.length - 4)
  return table
}

/** Reads, from the last bytes of the file, the size of the complete seek table in bytes. */
export const seekTableBytes = (tail: Uint8Array): Result.Result<number, string> => {
  const buffer = Buffer.from(tail)
  if (buffer.length < footerBytes || buffer.readUInt32LE(buffer.length - 4) !== seekableMagic)
    return Result.fail("the seek table is missing")
  const frames = buffer.readUInt32LE(buffer.length - footerBytes)
  if (frames > maxFrames || buffer[buffer.length - 5] !== 0) return Result.fail("the seek table cannot be read")
  return Result.succeed(headerBytes + frames * entryBytes + footerBytes)
}

export const seekFooterBytes = footerBytes

/** Decodes the seek table of a file that has `fileBytes` bytes. The frames must fill the file exactly. */
export const decodeSeekTable = (table: Uint8Array, fileBytes: number): Result.Result<ReadonlyArray<Frame>, string> => {
  const buffer = Buffer.from(table)
  const count = (buffer.length - headerBytes - footerBytes) / entryBytes
  if (buffer.readUInt32LE(0) !== skippableMagic || buffer.readUInt32LE(4) !== buffer.length - headerBytes)
    return Result.fail("the seek table cannot be read")
  const frames: Array<Frame> = []
  let at = 0
  let offset = 0
  for (let index = 0; index < count; index++) {
    const compressedBytes = buffer.readUInt32LE(headerBytes + index * entryBytes)
    const bytes = buffer.readUInt32LE(headerBytes + index * entryBytes + 4)
    if (bytes === 0 || bytes > frameBytes) return Result.fail("the seek table has a bad entry")
    frames.push({ at, compressedBytes, offset, bytes })
    at += compressedBytes
    offset += bytes
  }
  return at + buffer.length === fileBytes
    ? Result.succeed(frames)
    : Result.fail("the file has another size than it should")
}
