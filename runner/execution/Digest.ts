import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { Effect } from "effect"
import { fileOperation } from "./RunFiles.ts"

/** `sha256:` followed by 64 hexadecimal digits. */
export const sha256 = (content: string | Uint8Array): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`

const bytesAtOnce = 1024 * 1024
const known = new WeakMap<Uint8Array, string>()

const digestInPieces = Effect.fnUntraced(function* (content: Uint8Array) {
  const hash = createHash("sha256")
  for (let at = 0; at < content.length; at += bytesAtOnce) {
    hash.update(content.subarray(at, at + bytesAtOnce))
    yield* Effect.yieldNow
  }
  return `sha256:${hash.digest("hex")}`
})

/**
 * Returns the digest of a long byte array, which must never change because its digest is cached while the array is in memory.
 * Yields to other fibers while hashing.
 */
export const sha256OfLong = (content: Uint8Array): Effect.Effect<string> =>
  Effect.suspend(() => {
    const before = known.get(content)
    if (before !== undefined) return Effect.succeed(before)
    return Effect.tap(digestInPieces(content), (digest) => Effect.sync(() => known.set(content, digest)))
  })

export const sha256OfFile = (path: string, doing: string) =>
  fileOperation(doing, async () => {
    const hash = createHash("sha256")
    await pipeline(createReadStream(path), hash)
    return `sha256:${hash.digest("hex")}`
  })
