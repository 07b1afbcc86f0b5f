import { Buffer } from "node:buffer"
import { Redacted } from "effect"
import type { Secret } from "./SecretRule.ts"

/**
 * How much the secrets of one Run may be: their bytes, where a document counts twice because its parts are looked for as
 * well, and how many texts that are, where a document counts as many as it has lines, members and elements.
 */
export const secretBudget = { bytes: 1024 * 1024, texts: 16_384 } as const

const overBytes = `hold more than ${secretBudget.bytes} bytes of secrets (a document counts twice), and a Run can hide no more`
const overTexts = `hold more than ${secretBudget.texts} secret texts (a document counts each line, member and element), and a Run can hide no more`

const lineFeed = 0x0a
const comma = 0x2c
const equals = 0x3d

/** Counted without being parsed: this happens where requests are answered. */
const separators = (bytes: Uint8Array): number => {
  let count = 0
  for (const byte of bytes) if (byte === lineFeed || byte === comma || byte === equals) count++
  return count
}

/** Why secrets are more than a Run may have; undefined when they are not. */
export const budgetProblem = (secrets: Iterable<Secret>): string | undefined => {
  let bytes = 0
  let texts = 0
  for (const secret of secrets) {
    const value = Redacted.value(secret.value)
    const content = typeof value === "string" ? Buffer.from(value.trim()) : value
    const parts = separators(content)
    bytes += content.byteLength * (parts > 0 ? 2 : 1)
    texts += 1 + parts
    if (bytes > secretBudget.bytes) return overBytes
    if (texts > secretBudget.texts) return overTexts
  }
  return undefined
}
