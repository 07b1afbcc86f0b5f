import { Effect, type FileSystem, Stream } from "effect"

const chunkBytes = 256 * 1024

/** Reads a file in chunks that all use the same buffer, so a caller that keeps bytes must copy them. */
export const reusedBufferChunks = (files: FileSystem.FileSystem, path: string) =>
  Stream.unwrap(
    Effect.map(files.open(path, { flag: "r" }), (file) => {
      const buffer = new Uint8Array(chunkBytes)
      return Stream.unfold(buffer, () =>
        Effect.map(file.read(buffer), (length) =>
          length === 0 ? undefined : ([buffer.subarray(0, length), buffer] as const)
        )
      )
    })
  )
