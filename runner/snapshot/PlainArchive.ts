import { createGzip } from "node:zlib"
import { Effect, Stream } from "effect"
import { isRepositoryPath } from "../../schema/manifest/CanonicalPath.ts"
import { archiveEnd, encodeEntryHeader, paddingOf } from "./ArchiveFormat.ts"

/** A file in an archive that people unpack. */
export interface PlainFile {
  readonly path: string
  readonly mode: 0o600 | 0o644 | 0o755
  readonly bytes: Uint8Array
}

/** Dies if a path could lead out of the folder in which a person unpacks the archive. */
const entryOf = (mtime: Date) =>
  Effect.fnUntraced(function* ({ bytes, mode, path }: PlainFile) {
    if (!isRepositoryPath(path)) return yield* Effect.die(new Error("A file of an archive has no plain path"))
    return [
      encodeEntryHeader({ path, mode, sizeBytes: bytes.length, mtime }),
      bytes,
      new Uint8Array(paddingOf(bytes.length))
    ]
  })

/** Compresses data piece by piece, and buffers only the output of the last piece. */
const gzipped = <E, R>(plain: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const gzip = yield* Effect.acquireRelease(
        Effect.sync(() => createGzip()),
        (open) => Effect.sync(() => open.destroy())
      )
      let ready: Array<Uint8Array> = []
      gzip.on("data", (chunk: Uint8Array) => ready.push(chunk))
      const taken = Effect.sync(() => {
        const chunks = ready
        ready = []
        return chunks
      })
      const write = (bytes: Uint8Array) =>
        Effect.callback<void>((resume) => {
          gzip.write(bytes, (error) => resume(error == null ? Effect.void : Effect.die(error)))
        })
      const end = Effect.callback<void>((resume) => {
        gzip.once("end", () => resume(Effect.void))
        gzip.end()
      })
      return plain.pipe(
        Stream.mapEffect((bytes) => Effect.andThen(write(bytes), taken)),
        Stream.concat(Stream.fromEffect(Effect.andThen(end, taken))),
        Stream.flattenIterable
      )
    })
  )

/** Packs regular files with plain modes into a `.tar.gz`, in the order of the stream. */
export const tarGz = <E, R>(files: Stream.Stream<PlainFile, E, R>, mtime: Date): Stream.Stream<Uint8Array, E, R> =>
  files.pipe(
    Stream.mapEffect(entryOf(mtime)),
    Stream.flattenIterable,
    Stream.filter((bytes) => bytes.length > 0),
    Stream.concat(Stream.fromArray([archiveEnd])),
    gzipped
  )
