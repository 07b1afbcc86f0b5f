import { Effect, FileSystem, Option, type Scope, Semaphore } from "effect"
import { createHash } from "node:crypto"
import { type ArchiveIndex, ArchiveIndexer, type IndexedFile } from "./ArchiveIndex.ts"
import { decodeSeekTable, decompressFrame, type Frame, seekFooterBytes, seekTableBytes } from "./SeekableFrames.ts"

/** A stored archive that has been completely verified once. */
export interface OpenedArchive {
  readonly path: string
  /** The file's attributes when it was verified. */
  readonly written: FileSystem.File.Info
  readonly frames: ReadonlyArray<Frame>
  readonly index: ArchiveIndex
}

const modifiedAt = ({ mtime }: FileSystem.File.Info) =>
  Option.getOrUndefined(Option.map(mtime, (date) => date.getTime()))

/** Returns true if a file looks unchanged, that is, if its size, inode and modification time are the same. */
export const isSameFile = (before: FileSystem.File.Info, after: FileSystem.File.Info): boolean =>
  before.size === after.size &&
  Option.getOrUndefined(before.ino) === Option.getOrUndefined(after.ino) &&
  modifiedAt(before) === modifiedAt(after)

const readAt = Effect.fnUntraced(function* (file: FileSystem.File, at: number, bytes: number) {
  if (bytes === 0) return new Uint8Array()
  const read = yield* file
    .readAlloc(bytes, { position: BigInt(at) })
    .pipe(Effect.mapError(() => "the file cannot be read"))
  const found = Option.getOrElse(read, () => new Uint8Array())
  return found.length === bytes ? found : yield* Effect.fail("the file is cut off")
})

const openFile = Effect.fnUntraced(function* (path: string) {
  const fileSystem = yield* FileSystem.FileSystem
  return yield* fileSystem.open(path, { flag: "r" }).pipe(Effect.mapError(() => "the file cannot be opened"))
})

const readFrame = Effect.fnUntraced(function* (file: FileSystem.File, frame: Frame) {
  return yield* Effect.fromResult(decompressFrame(frame, yield* readAt(file, frame.at, frame.compressedBytes)))
})

const readFrames = Effect.fnUntraced(function* (file: FileSystem.File) {
  const info = yield* file.stat.pipe(Effect.mapError(() => "the file cannot be read"))
  const size = Number(info.size)
  const tail = yield* readAt(file, Math.max(0, size - seekFooterBytes), Math.min(size, seekFooterBytes))
  const tableBytes = yield* Effect.fromResult(seekTableBytes(tail))
  if (tableBytes > size) return yield* Effect.fail("the seek table cannot be read")
  return yield* Effect.fromResult(decodeSeekTable(yield* readAt(file, size - tableBytes, tableBytes), size))
})

/**
 * Reads an entire archive once, in bounded memory, and verifies every byte against its digest (`sha256:...`). Fails at the first
 * problem.
 */
export const openArchive = Effect.fn("openArchive")(function* (
  path: string,
  archiveDigest: string
): Effect.fn.Return<OpenedArchive, string, FileSystem.FileSystem> {
  return yield* Effect.gen(function* () {
    const file = yield* openFile(path)
    const written = yield* file.stat.pipe(Effect.mapError(() => "the file cannot be read"))
    const frames = yield* readFrames(file)
    const indexer = new ArchiveIndexer()
    for (const frame of frames) {
      const bytes = yield* readFrame(file, frame)
      yield* Effect.fromResult(indexer.push(bytes))
    }
    const index = yield* Effect.fromResult(indexer.finish())
    if (`sha256:${index.sha256}` !== archiveDigest)
      return yield* Effect.fail("the contents differ from the stored contents")
    return { path, written, frames, index }
  }).pipe(Effect.scoped)
})

const within = (file: IndexedFile) => (frame: Frame) =>
  frame.offset < file.offset + file.sizeBytes && frame.offset + frame.bytes > file.offset

/** Reads files from an open archive. */
export type FileReader = (entry: IndexedFile) => Effect.Effect<Uint8Array, string>

/**
 * Keeps an archive open, and verifies each file again when it is read, because the data on disk may have changed. Caches the
 * newest frame, so that reading files in order decompresses each frame only once.
 */
export const holdArchive = Effect.fnUntraced(function* (
  archive: OpenedArchive
): Effect.fn.Return<FileReader, string, FileSystem.FileSystem | Scope.Scope> {
  const file = yield* openFile(archive.path)
  // Read one file at a time, because a frame is large and only the newest frame is cached.
  const reading = yield* Semaphore.make(1)
  let newest: { readonly frame: Frame; readonly bytes: Uint8Array } | undefined
  const frameBytes = Effect.fnUntraced(function* (frame: Frame) {
    if (newest?.frame === frame) return newest.bytes
    newest = undefined
    const bytes = yield* readFrame(file, frame)
    newest ??= { frame, bytes }
    return bytes
  })
  const contents = Effect.fnUntraced(function* (entry: IndexedFile) {
    const frames = archive.frames.filter(within(entry))
    const parts: Array<Uint8Array> = []
    for (const frame of frames) {
      const bytes = yield* frameBytes(frame)
      const start = Math.max(0, entry.offset - frame.offset)
      parts.push(bytes.subarray(start, Math.min(bytes.length, entry.offset + entry.sizeBytes - frame.offset)))
    }
    return Buffer.concat(parts)
  }, reading.withPermit)
  return Effect.fnUntraced(function* (entry) {
    if (entry.sizeBytes === 0) return new Uint8Array()
    const bytes = yield* contents(entry)
    const digest = createHash("sha256").update(bytes).digest("hex")
    return digest === entry.sha256 ? bytes : yield* Effect.fail("the file's contents are not the ones that were stored")
  })
})

/** Reads the bytes of one file, and verifies them again. */
export const readArchiveFile = Effect.fn("readArchiveFile")(
  (archive: OpenedArchive, entry: IndexedFile): Effect.Effect<Uint8Array, string, FileSystem.FileSystem> =>
    Effect.scoped(Effect.flatMap(holdArchive(archive), (read) => read(entry)))
)
