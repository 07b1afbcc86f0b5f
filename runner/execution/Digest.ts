import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { fileOperation } from "./RunFiles.ts"

/** `sha256:` and 64 hex digits. */
export const sha256 = (content: string | Uint8Array): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`

export const sha256OfFile = (path: string, doing: string) =>
  fileOperation(doing, async () => {
    const hash = createHash("sha256")
    await pipeline(createReadStream(path), hash)
    return `sha256:${hash.digest("hex")}`
  })
