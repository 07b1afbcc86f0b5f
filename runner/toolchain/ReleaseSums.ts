import { ToolDownloadFailed } from "./ToolErrors.ts"
import { Effect } from "effect"

const line = /^([0-9a-f]{64}) [ *](\S+)$/

const refuse = (message: string) =>
  new ToolDownloadFailed({
    reason: "checksum",
    message,
    remedy: "Check that the mirror holds the release that SVC_TOOL_VERSION names, complete and unchanged."
  })

/**
 * Returns the digest (hexadecimal) of one file in a verified SHA256SUMS file. The file name contains the version, so the
 * checksums of another release that was signed with the same key never match.
 */
export const digestOf = Effect.fnUntraced(function* (sums: Uint8Array, file: string) {
  const digests = new Set<string>()
  for (const text of new TextDecoder().decode(sums).split("\n")) {
    if (text === "") continue
    const [, digest, name] = line.exec(text) ?? []
    if (digest === undefined)
      return yield* refuse("The checksums file has a line that is not a SHA-256 and a file name.")
    if (name === file) digests.add(digest)
  }
  const [digest] = digests
  if (digest === undefined) return yield* refuse(`The checksums file has no entry for ${file}.`)
  if (digests.size > 1) return yield* refuse(`The checksums file has several entries for ${file}.`)
  return digest
})
