import { createHash } from "node:crypto"
import { mkdir, open, rename } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect, Schema, Stream } from "effect"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import { fileOperation, type RunFileFailed } from "../execution/RunFiles.ts"
import { sealBlob } from "./SealedBlob.ts"
import type { SealedFor } from "./SealedMessage.ts"

/** A sealed file on the agent's disk, ready to upload. `digest` is the digest of its sealed bytes. */
export const SealedFile = Schema.Struct({ path: Schema.String, digest: Schema.String, sizeBytes: Schema.Int })
export type SealedFile = typeof SealedFile.Type

/** A sealed file to send. If `bytes` is set, the file is in memory, and may not be on disk yet. */
export interface SentFile extends SealedFile {
  readonly kind: BlobKind
  readonly bytes?: Uint8Array
}

const written = Effect.fnUntraced(function* <E>(path: string, bytes: Stream.Stream<Uint8Array, E>) {
  const doing = "write a sealed file"
  const hash = createHash("sha256")
  let sizeBytes = 0
  yield* fileOperation(doing, () => mkdir(dirname(path), { recursive: true, mode: 0o700 }))
  yield* Effect.acquireUseRelease(
    fileOperation(doing, () => open(`${path}.new`, "w", 0o600)),
    (file) =>
      Stream.runForEach(bytes, (chunk) =>
        fileOperation(doing, async () => {
          hash.update(chunk)
          sizeBytes += chunk.length
          await file.writeFile(chunk)
        })
      ).pipe(Effect.andThen(fileOperation(doing, () => file.sync()))),
    (file) => Effect.promise(() => file.close())
  )
  yield* fileOperation(doing, async () => {
    await rename(`${path}.new`, path)
    const folder = await open(dirname(path), "r")
    await folder.sync().finally(() => folder.close())
  })
  return { path, digest: `sha256:${hash.digest("hex")}`, sizeBytes }
})

/** Writes sealed bytes. Returns once the bytes are safely on disk. */
export const writeSealed = (path: string, sealed: Uint8Array): Effect.Effect<void, RunFileFailed> =>
  Effect.asVoid(written(path, Stream.make(sealed)))

/** Seals a stream into a file. Returns once the file is safely on disk. Never writes unsealed bytes. */
export const sealedStream = <E>(
  path: string,
  key: CryptoKey,
  purpose: SealedFor,
  contents: Stream.Stream<Uint8Array, E>
): Effect.Effect<SealedFile, RunFileFailed | E> => written(path, sealBlob(key, purpose, contents))

export const sealedBytes = (
  path: string,
  key: CryptoKey,
  purpose: SealedFor,
  contents: Uint8Array
): Effect.Effect<SealedFile, RunFileFailed> => sealedStream(path, key, purpose, Stream.make(contents))
