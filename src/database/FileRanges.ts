import { createHash } from "node:crypto"
import { Effect, type FileSystem, type PlatformError } from "effect"

/** Number of bytes of a large file to read into memory at a time. */
const pieceBytes = 4 * 1024 * 1024

/** Reads `size` bytes at `offset`, or fewer if the file ends earlier. */
export const readAt = Effect.fnUntraced(function* (file: FileSystem.File, offset: number, size: number) {
  yield* file.seek(BigInt(offset), "start")
  const bytes = new Uint8Array(size)
  let filled = 0
  while (filled < size) {
    const read = Number(yield* file.read(bytes.subarray(filled)))
    if (read === 0) break
    filled += read
  }
  return bytes.subarray(0, filled)
})

/**
 * Passes `size` bytes, starting at `offset`, to `take` in pieces. Returns the number of bytes passed and their SHA-256 in
 * hex.
 */
export const passOn = Effect.fnUntraced(function* (
  file: FileSystem.File,
  offset: number,
  size: number,
  take: (piece: Uint8Array) => Effect.Effect<void, PlatformError.PlatformError>
) {
  const digest = createHash("sha256")
  let passed = 0
  while (passed < size) {
    const piece = yield* readAt(file, offset + passed, Math.min(pieceBytes, size - passed))
    if (piece.length === 0) break
    digest.update(piece)
    yield* take(piece)
    passed += piece.length
  }
  return { sha256: digest.digest("hex"), sizeBytes: passed }
})
