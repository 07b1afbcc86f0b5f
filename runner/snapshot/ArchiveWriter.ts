import { Effect, FileSystem, type Scope } from "effect"
import { createHash } from "node:crypto"
import {
  type ArchiveFile,
  archiveEnd,
  encodeFileHeader,
  encodePreamble,
  type OmittedRecord,
  paddingOf
} from "./ArchiveFormat.ts"
import { compressFrame, encodeSeekTable, type Frame, frameBytes } from "./SeekableFrames.ts"
import { SnapshotStorageFailed } from "./SnapshotError.ts"

export interface WrittenArchive {
  /** Digest (`sha256:`) of the uncompressed archive. */
  readonly archiveDigest: string
  /** Size of the uncompressed archive, in bytes. */
  readonly archiveSizeBytes: number
}

/** Writes an archive piece by piece. Files must arrive sorted by path. */
export interface ArchiveWriter {
  readonly add: (file: Omit<ArchiveFile, "sizeBytes">, bytes: Uint8Array) => Effect.Effect<void, SnapshotStorageFailed>
  /** Completes the archive. Returns once the archive is safely on disk. */
  readonly finish: Effect.Effect<WrittenArchive, SnapshotStorageFailed>
}

const storageFailed = () =>
  new SnapshotStorageFailed({
    message: "The snapshot could not be written. Check that the data folder has free space."
  })

/** Creates the archive file. Fails if the file already exists. */
export const makeArchiveWriter = Effect.fn("makeArchiveWriter")(function* (
  path: string,
  omitted: ReadonlyArray<OmittedRecord>
): Effect.fn.Return<ArchiveWriter, SnapshotStorageFailed, FileSystem.FileSystem | Scope.Scope> {
  const fileSystem = yield* FileSystem.FileSystem
  const file = yield* fileSystem.open(path, { flag: "wx", mode: 0o600 }).pipe(Effect.mapError(storageFailed))
  const digest = createHash("sha256")
  const frames: Array<Pick<Frame, "compressedBytes" | "bytes">> = []
  let pending: Array<Uint8Array> = []
  let pendingBytes = 0
  let total = 0

  const writeFrame = Effect.fnUntraced(function* (bytes: Uint8Array) {
    const compressed = compressFrame(bytes)
    frames.push({ compressedBytes: compressed.length, bytes: bytes.length })
    yield* file.writeAll(compressed).pipe(Effect.mapError(storageFailed))
  })

  const write = Effect.fnUntraced(function* (bytes: Uint8Array) {
    digest.update(bytes)
    total += bytes.length
    pending.push(bytes)
    pendingBytes += bytes.length
    if (pendingBytes < frameBytes) return
    const gathered = Buffer.concat(pending)
    const whole = gathered.length - (gathered.length % frameBytes)
    pending = [gathered.subarray(whole)]
    pendingBytes = gathered.length - whole
    for (let at = 0; at < whole; at += frameBytes) yield* writeFrame(gathered.subarray(at, at + frameBytes))
  })

  yield* write(encodePreamble(omitted))

  return {
    add: Effect.fnUntraced(function* (entry, bytes) {
      yield* write(encodeFileHeader({ ...entry, sizeBytes: bytes.length }))
      yield* write(bytes)
      yield* write(Buffer.alloc(paddingOf(bytes.length)))
    }),
    finish: Effect.gen(function* () {
      yield* write(archiveEnd)
      if (pendingBytes > 0) yield* writeFrame(Buffer.concat(pending))
      yield* file.writeAll(encodeSeekTable(frames)).pipe(Effect.mapError(storageFailed))
      yield* file.sync.pipe(Effect.mapError(storageFailed))
      return { archiveDigest: `sha256:${digest.digest("hex")}`, archiveSizeBytes: total }
    })
  }
})
